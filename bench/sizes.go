package main

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

//go:embed sizes.txt
var sizesText string

// anchors are the sizes that are tuned and stored, in 2D and in 3D (transfer/unseen_test.go knows them).
var anchors = map[bool][]string{true: {"1024x1024", "4096x4096", "8192x2048", "8192x8192"}, false: {"128x128x128", "256x256x256", "768x256x384", "512x512x512"}}

func anchorsOf(stencil string) []string { return anchors[strings.Contains(stencil, "2d")] }

// unseen records what is needed to judge answers for sizes that were never tuned: for each stencil 4 sizes
// that are stored, and 60 others that are answered from them. Each is tuned with a store that holds the 4
// only, in the order in which tune best would choose, so that its choice is among what was measured.
// The judge is go test ./transfer -run Unseen -v -unseen FOLDER.
func unseen(_ context.Context, b *bench) ([]row, error) { return b.sized("unseen", true), nil }

// fitted records other sizes in the same way, to fit the cost model to: those of unseen are left to judge.
func fitted(_ context.Context, b *bench) ([]row, error) { return b.sized("sizes", false), nil }

// sized are rows of the sizes that sizes.txt lists.
func (b *bench) sized(what string, stored bool) (rows []row) {
	for line := range strings.Lines(sizesText) {
		words := strings.Fields(line)
		if words[0] != what {
			continue
		}
		list := words[2:]
		if stored {
			list = append(anchorsOf(words[1]), list...)
		}
		for _, n := range list {
			p := problem{words[1], "float32", n}
			rows = append(rows, row{p.name("Recorded"), func(ctx context.Context, _ int) (result, error) { return b.record(ctx, p) }})
		}
	}
	return rows
}

// record records a size into the folder.
func (b *bench) record(ctx context.Context, p problem) (result, error) {
	store, err := b.anchored(ctx, p.stencil)
	if err != nil {
		return result{}, err
	}
	own := filepath.Join(b.work, "own.db")
	if err := copied(store, own); err != nil {
		return result{}, err
	}
	limit := b.limit
	if limit == 0 {
		limit = 1500 * time.Millisecond
	}
	file := fmt.Sprintf("%s_%s.jsonl.gz", p.stencil, p.size)
	into := filepath.Join(b.work, file)
	c, wall, err := b.tune(ctx, p, own, "--time-limit", limit.String(), "--strategy", "model", "--record", into)
	if err == nil {
		err = copied(into, filepath.Join(b.folder, file))
	}
	return recorded(c, wall), err
}

// anchored is a store that holds the tunes of a stencil's four sizes, made when it is first asked for.
func (b *bench) anchored(ctx context.Context, stencil string) (string, error) {
	store := filepath.Join(b.work, stencil+".db")
	if b.stored[stencil] {
		return store, nil
	}
	for _, n := range anchorsOf(stencil) {
		if _, _, err := b.tune(ctx, problem{stencil, "float32", n}, store, b.search()...); err != nil {
			return "", err
		}
	}
	b.stored[stencil] = true
	return store, nil
}
