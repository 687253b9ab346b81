package model_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// How long stream tiles of large grids should be (bench/h200/tiles.txt): the model's choice among those that were timed.
func TestStreamTilesOfLargeGrids(t *testing.T) {
	f, err := os.Open("../bench/h200/tiles.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	known, err := machine.FindKnown("h200")
	if err != nil {
		t.Fatal(err)
	}
	type timed struct {
		text                string
		measured, predicted float64 // GCells/s
	}
	groups, order := map[string][]timed{}, []string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 5 || words[0] == "#" {
			continue
		}
		st := stenciltest.Lookup(t, words[0])
		size, err := stencil.ParseSize(words[2], st.Dims)
		if err != nil {
			t.Fatal(err)
		}
		s := spacetest.Schedule(t, words[3])
		rate, err := strconv.ParseFloat(words[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		p := stencil.Problem{Stencil: st, DType: stencil.DType(words[1]), Size: size, Steps: 1000}
		key := strings.Join(append(words[:3:3], s.With("ck", 1).String()), " ")
		if groups[key] == nil {
			order = append(order, key)
		}
		predicted := model.Schedule(p, kernels.Find(all.Families(), s.Family()), s, model.Facts{}, known.Machine)
		groups[key] = append(groups[key], timed{words[3], rate, float64(size.Cells()) / predicted.Seconds / 1e9})
	}
	for _, key := range order {
		best, chosen := groups[key][0], groups[key][0]
		for _, s := range groups[key] {
			t.Logf("%s: %.0f measured, %.0f predicted", s.text, s.measured, s.predicted)
			if s.measured > best.measured {
				best = s
			}
			if s.predicted > chosen.predicted {
				chosen = s
			}
		}
		loss := best.measured/chosen.measured - 1
		t.Logf("%s: chosen %s, %.1f %% off", key, chosen.text, 100*loss)
		if loss > 0.1 {
			t.Errorf("%s: %.0f %% off the best", key, 100*loss)
		}
	}
}
