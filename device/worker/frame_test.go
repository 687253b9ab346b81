package worker

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
)

func TestFrame(t *testing.T) {
	var pipe bytes.Buffer
	texts := []string{"", "a < b && c", strings.Repeat("x", 1<<20), "\x00\xff\u2028"}
	for _, text := range texts {
		f, err := encodeFrame(text)
		if err != nil {
			t.Fatal(err)
		}
		pipe.Write(f)
	}
	for _, text := range texts {
		f, err := readFrame(&pipe)
		var got string
		if err != nil || json.Unmarshal(f, &got) != nil || got != strings.ToValidUTF8(text, "\uFFFD") {
			t.Errorf("%.20q: got %.20q, %v", text, got, err)
		}
	}
	if _, err := readFrame(&pipe); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestBadFrames(t *testing.T) {
	header := func(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }
	for name, c := range map[string]struct {
		in   string
		want error
	}{
		"half a header": {"\x00\x00", io.ErrUnexpectedEOF},
		"half a body":   {header(10) + "12345", io.ErrUnexpectedEOF},
		"lacks a byte":  {header(6) + "12345", io.ErrUnexpectedEOF},
		"no body":       {header(10), io.ErrUnexpectedEOF},
		"too long":      {header(maxFrame + 1), nil},
		"text":          {"usage: tune", nil},
	} {
		if _, err := readFrame(strings.NewReader(c.in)); err == nil || err == io.EOF || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A header alone costs no memory.
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readFrame(strings.NewReader(header(maxFrame) + "x"))
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err == nil || used > 1<<20 {
		t.Errorf("%v; %d bytes allocated for a frame that never came", err, used)
	}
	if _, err := encodeFrame(math.NaN()); err == nil {
		t.Error("NaN encoded")
	}
	if fits(maxFrame) != nil || fits(maxFrame+1) == nil {
		t.Error("the limit is not where it should be")
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add([]byte("usage: tune"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		for {
			b, err := readFrame(r)
			if err != nil {
				return
			}
			if len(b) > len(in) {
				t.Fatalf("%d bytes from %d", len(b), len(in))
			}
		}
	})
}
