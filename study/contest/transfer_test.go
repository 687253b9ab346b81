package contest

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/runner"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/transfer"
)

// evidence is what a recording of one size knows.
func evidence(t *testing.T, l *replay.Landscape) transfer.Evidence {
	t.Helper()
	p, err := l.Problem()
	if err != nil {
		t.Fatal(err)
	}
	e := transfer.Evidence{Place: transfer.At(all.Families(), p, l.Header.Machine), Seconds: map[space.Schedule]float64{}}
	for _, s := range l.Order {
		if v := l.Records[s].Seconds(); v > 0 {
			e.Seconds[s] = v
		}
	}
	return e
}

// nearest is the one of some recordings whose grid is the most like another's.
func nearest(of []*replay.Landscape, to *replay.Landscape) *replay.Landscape {
	far := func(l *replay.Landscape) (d float64) {
		for i, n := range l.Header.Size {
			r := math.Log(float64(n) / float64(to.Header.Size[i]))
			d += r * r
		}
		return d
	}
	return slices.MinFunc(of, func(a, b *replay.Landscape) int { return cmp.Compare(far(a), far(b)) })
}

// TestWhatIsKnownOfAnotherSizeSavesEvaluations: searches of sizes that start from the
// measurements of another need in all no more evaluations to 2 % than with the cost model
// alone.
func TestWhatIsKnownOfAnotherSizeSavesEvaluations(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many searches")
	}
	const folder, every, seeds = "../../bench/h200/unseen/", 4, 3
	for _, c := range []struct {
		stencil string
		known   []string
	}{
		{"jacobi2d", []string{"1024x1024", "4096x4096", "8192x2048", "8192x8192"}},
		{"jacobi3d", []string{"128x128x128", "256x256x256", "768x256x384", "512x512x512"}},
	} {
		files, err := filepath.Glob(folder + c.stencil + "_*.jsonl.gz")
		if err != nil || len(files) < 10 {
			t.Fatalf("%d recordings of %s, %v", len(files), c.stencil, err)
		}
		var known, asked []*replay.Landscape
		for i, file := range files {
			size := strings.TrimSuffix(strings.TrimPrefix(file, folder+c.stencil+"_"), ".jsonl.gz")
			if is := slices.Contains(c.known, size); !is && i%every != 0 {
				continue
			} else if l := opened(t, file); is {
				known = append(known, l)
			} else {
				asked = append(asked, l)
			}
		}
		var coldAll, warmAll float64
		for _, l := range asked {
			p, err := l.Problem()
			if err != nil {
				t.Fatal(err)
			}
			there := transfer.At(all.Families(), p, l.Header.Machine)
			evaluations := func(e ...transfer.Evidence) float64 {
				f := NewField(l, p, kernels.Spaces(all.Families(), p, l.Header.Machine), baselineOf(t, l, p), transfer.Expect(there, e).Order, nil, transfer.Expect(there, e).Parts)
				n := make([]float64, seeds)
				for seed := range seeds {
					r, err := f.Run(t.Context(), Entrant{Strategy: "bayes"}, uint64(seed+1), Rules{Ahead: 1, Regret: 0.02})
					if err != nil {
						t.Fatal(err)
					}
					n[seed] = r.To(0.02)
				}
				return quantile(n, 0.5)
			}
			from := nearest(known, l)
			cold, warm := evaluations(), evaluations(evidence(t, from))
			if cold != warm {
				t.Logf("%s, from %v: %v evaluations to 2 %% with the model, %v with what is known too", p.Text(), from.Header.Size, cold, warm)
			}
			coldAll, warmAll = coldAll+cold, warmAll+warm
		}
		t.Logf("%s: %d sizes in %v evaluations to 2 %% with the model, in %v with what is known of another", c.stencil, len(asked), coldAll, warmAll)
		if warmAll > coldAll {
			t.Errorf("%s: %v evaluations with what is known, %v without", c.stencil, warmAll, coldAll)
		}
	}
}

// opened reads a recording's file.
func opened(t *testing.T, file string) *replay.Landscape {
	t.Helper()
	found, err := replay.Match(file)
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

// baselineOf is the naive kernel that was recorded.
func baselineOf(t *testing.T, l *replay.Landscape, p stencil.Problem) space.Schedule {
	t.Helper()
	for _, s := range runner.Naive(p, kernels.Spaces(all.Families(), p, l.Header.Machine)) {
		if l.Records[s].Seconds() > 0 {
			return s
		}
	}
	t.Fatalf("%s: the naive kernel is not recorded", p.Text())
	return space.Schedule{}
}
