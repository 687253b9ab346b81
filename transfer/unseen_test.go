package transfer

import (
	"cmp"
	"flag"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stenciltune/cache"
	"stenciltune/device/replay"
	"stenciltune/kernels/all"
	"stenciltune/model"
	"stenciltune/space"
)

var flagUnseen = flag.String("unseen", "../bench/h200/unseen", "folder of recordings made by go run ./bench unseen")

var flagFirst = flag.Bool("first", false, "rank all of each space, not only what was recorded, and tell how often the first choice is not: half a minute")

// stored are the sizes that answers may use, by dimensions: the anchors of bench/sizes.go.
var stored = map[int][]string{2: {"1024x1024", "4096x4096", "8192x2048", "8192x8192"}, 3: {"128x128x128", "256x256x256", "768x256x384", "512x512x512"}}

// recorded reads a recording as evidence.
func recorded(t *testing.T, file string) Evidence {
	t.Helper()
	found, err := replay.Match(file)
	if err != nil {
		t.Fatal(err)
	}
	l := found[0]
	p, err := l.Problem()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	e := Evidence{Place: At(all.Families(), p, l.Header.Machine), Seconds: map[space.Schedule]float64{}}
	for _, s := range l.Order {
		if t := l.Records[s].Seconds(); t > 0 {
			e.Seconds[s] = t
		}
	}
	return e
}

// TestUnseenSizesOnRecordedData answers sizes from four stored ones and looks up what
// the answer really took, with the model as it is (fitted to other sizes of the same stencils) and
// as fitted without the stencil. The goal is a median loss of at most 5 %, and with the model
// as it is 15 % at worst (docs/store.md).
func TestUnseenSizesOnRecordedData(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*flagUnseen, "*.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("no recordings in %s: go run ./bench unseen makes them on a GPU", *flagUnseen)
	}
	known := map[string][]Evidence{}
	asked := map[string][]Evidence{}
	for _, file := range files {
		e := recorded(t, file)
		st := e.Problem.Stencil
		if slices.Contains(stored[st.Dims], e.Problem.Size.Text(st.Dims)) {
			known[st.Name] = append(known[st.Name], e)
		} else {
			asked[st.Name] = append(asked[st.Name], e)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if len(known[name]) != 4 {
			t.Errorf("%s: %d of 4 stored sizes are recorded", name, len(known[name]))
			continue
		}
		for _, m := range []struct {
			what string
			c    model.Coefficients
		}{{"the model", model.Fitted}, {"the model fitted without it", model.Calibrated.Without(name)}} {
			unseen(t, name+", "+m.what, with(m.c, known[name]), with(m.c, asked[name]))
		}
	}
}

// with is places with other coefficients of the cost model.
func with(c model.Coefficients, list []Evidence) []Evidence {
	list = slices.Clone(list)
	for i := range list {
		list[i].Place = at(list[i].Problem, list[i].Machine)
		list[i].model = c
	}
	return list
}

// unseen judges answers for a stencil's sizes.
func unseen(t *testing.T, what string, anchors, list []Evidence) {
	expected := LeaveOneOut(anchors)
	type loss struct {
		size  string
		share float64
	}
	var losses []loss
	missing := 0
	for _, e := range list {
		own := slices.Clone(anchors) // nearest first, as recall has them
		slices.SortFunc(own, func(a, b Evidence) int {
			return cmp.Compare(distance(e.Problem.Size, a.Problem.Size), distance(e.Problem.Size, b.Problem.Size))
		})
		_, low := e.Best()
		size := e.Problem.Size.Text(e.Problem.Stencil.Dims)
		of := slices.Collect(maps.Keys(e.Seconds))
		if *flagFirst {
			of = e.Choices(all.Space(e.Problem, e.Machine), own)
		}
		for i, r := range Rank(e.Place, own, of) {
			if took, ok := e.Seconds[r.Schedule]; ok {
				losses = append(losses, loss{size, took/low - 1})
				break
			} else if i == 0 {
				missing++ // it failed there, or was not among the first
			}
		}
	}
	slices.SortFunc(losses, func(a, b loss) int { return cmp.Compare(a.share, b.share) })
	if len(losses) == 0 {
		t.Errorf("%s: nothing could be judged", what)
		return
	}
	middle, most, worst := losses[len(losses)/2], losses[len(losses)*9/10], losses[len(losses)-1]
	over := 0
	for _, l := range losses {
		if l.share > 0.15 {
			over++
		}
	}
	t.Logf("%s: %d sizes from 4, grade %s: median loss %.1f %%, nine in ten %.1f %%, worst %.1f %% (%s), %d over 15 %%, expected %.1f %%; first choice not recorded %d times",
		what, len(losses), cache.OtherSize, 100*middle.share, 100*most.share, 100*worst.share, worst.size, over, 100*expected, missing)
	if !strings.HasPrefix(list[0].Machine.ComputeCapability, "9") {
		return
	}
	if middle.share > 0.05 || most.share > 0.15 {
		t.Errorf("%s: median loss %.1f %%, nine in ten %.1f %%: want 5 and 15", what, 100*middle.share, 100*most.share)
	}
	// The sizes in 3D were recorded before tiles began early, and the model counts kernels in which they do.
	if most := max(0, list[0].Problem.Stencil.Dims-2); list[0].model == model.Fitted && over > most {
		t.Errorf("%s: %d of %d answers lose more than 15 %%: want %d", what, over, len(losses), most)
	}
}
