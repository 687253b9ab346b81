package cache

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// breaking is a server whose first connection breaks while it answers.
type breaking struct {
	server
	sent int
}

func (*breaking) words() *words { return &words{format: "format", keys: "keys"} }

func (b *breaking) connect(context.Context) (link, error) { return b, nil }

func (*breaking) fault(error) (fault, string) { return faultNoAnswer, "" }

func (*breaking) remedy(fault) string { return "" }

func (*breaking) closed() bool { return false }

func (*breaking) close(context.Context) {}

func (b *breaking) send(_ context.Context, list ...statement) error {
	b.sent++
	for _, s := range list {
		if s.sql != "keys" {
			continue
		}
		for i, key := range []string{"a", "b", "c"} {
			if b.sent == 1 && i == 2 {
				return errors.New("cut")
			}
			if err := s.row([][]byte{[]byte(key)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestKeysOfACutAnswerAreListedOnce: what came before the cut comes again.
func TestKeysOfACutAnswerAreListedOnce(t *testing.T) {
	d := &database{server: &breaking{}, wait: func() time.Duration { return time.Minute }}
	keys, err := d.keys(partJournal, "")
	must(t, err)
	if !slices.Equal(keys, []string{"a", "b", "c"}) {
		t.Errorf("%q", keys)
	}
}
