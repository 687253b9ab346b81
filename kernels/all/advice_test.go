package all

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/machine/machinetest"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

// recording is the times of a recorded problem's schedules.
type recording struct {
	problem stencil.Problem
	times   []timed
	best    float64
	advised []bool // of each
	space   *space.Space
}

type timed struct {
	schedule space.Schedule
	seconds  float64
}

// loss is by how much the best schedule that is kept is slower than the best.
func (r *recording) loss(keep func(i int) bool) float64 {
	low := math.Inf(1)
	for i, t := range r.times {
		if t.seconds < low && keep(i) {
			low = t.seconds
		}
	}
	return low/r.best - 1
}

var read []*recording

// recordings are those of whole spaces in float32, those of other sizes, and the samples in float64 that ship.
func recordings(t *testing.T) []*recording {
	t.Helper()
	if read != nil {
		return read
	}
	var files []string
	for _, pattern := range []string{
		"../../bench/h200/landscapes/*.jsonl.gz", "../../bench/h200/unseen/*.jsonl.gz", "../../bench/h200/sizes/*.jsonl.gz",
		"../../device/replay/landscapes/*_f64_*.jsonl.gz",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 400 {
		t.Skipf("%d recordings are here: bench/h200 holds them", len(files))
	}
	for _, file := range files {
		l, err := replay.Match(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := l[0].Problem()
		if err != nil {
			t.Fatal(err)
		}
		r := &recording{problem: p, best: math.Inf(1), space: Space(p, l[0].Header.Machine)}
		advised := r.space.Advised()
		for _, s := range l[0].Order {
			record := l[0].Records[s]
			if record.Status != timing.OK || len(record.Series.Samples) == 0 || r.space.Check(s) != nil {
				continue
			}
			seconds := timing.Summarise(record.Series.Samples).Median
			r.times = append(r.times, timed{s, seconds})
			r.advised = append(r.advised, advised.Check(s) == nil)
			r.best = min(r.best, seconds)
		}
		read = append(read, r)
	}
	return read
}

// losses tells the mean, the 95th percentile and the worst of what recordings lose.
func losses(list []*recording, of func(*recording) float64) (mean, high, worst float64, where string) {
	var all []float64
	for _, r := range list {
		loss := of(r)
		all = append(all, loss)
		mean += loss / float64(len(list))
		if loss >= worst {
			worst, where = loss, r.problem.Text()
		}
	}
	slices.Sort(all)
	return mean, all[len(all)*95/100], worst, where
}

// halves are every other recording of a list.
func halves(list []*recording) (h [2][]*recording) {
	for i, r := range list {
		h[i%2] = append(h[i%2], r)
	}
	return h
}

// TestAdviceLosesLittleOnRecordings judges advice where all schedules, or those around the best, were
// timed: 0.3 % in the mean and 5 % at worst is what it may cost.
func TestAdviceLosesLittleOnRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all recordings: nothing for the race detector")
	}
	kinds := map[string][]*recording{}
	schedules := map[string][2]int{} // all and those that are left, once for each stencil
	counted := map[string]bool{}
	for _, r := range recordings(t) {
		kind := fmt.Sprintf("%dD %s", r.problem.Stencil.Dims, r.problem.DType)
		kinds[kind] = append(kinds[kind], r)
		if name := kind + r.problem.Stencil.Name; !counted[name] {
			counted[name] = true
			n := schedules[kind]
			schedules[kind] = [2]int{n[0] + r.space.Size(), n[1] + r.space.Advised().Size()}
		}
	}
	for _, kind := range []string{"2D float32", "3D float32", "2D float64", "3D float64"} {
		list, n := kinds[kind], schedules[kind]
		heeded := func(r *recording) float64 { return r.loss(func(i int) bool { return r.advised[i] }) }
		mean, high, worst, where := losses(list, heeded)
		t.Logf("| %s | %d | %.1f %% | %.2f %% | %.1f %% | %.1f %% (%s) |", kind, len(list), 100*float64(n[1])/float64(n[0]), 100*mean, 100*high, 100*worst, where)
		if mean > 0.003 || worst > 0.05 || 2*n[1] > n[0] {
			t.Errorf("%s: advice costs %.2f %% in the mean and %.1f %% at worst, and leaves %d of %d schedules", kind, 100*mean, 100*worst, n[1], n[0])
		}
		if len(list) < 100 {
			continue
		}
		all := derive(list)
		for _, r := range list {
			for i, x := range r.times {
				if r.advised[i] == all.leaveOut(x.schedule) {
					t.Fatalf("%s: %s is advised %v, but what recordings can do without is %v", r.problem.Text(), x.schedule, r.advised[i], all)
				}
			}
		}
		for i, half := range halves(list) {
			values := derive(half)
			other := halves(list)[1-i]
			mean, high, worst, where := losses(other, func(r *recording) float64 {
				return r.loss(func(i int) bool { return !values.leaveOut(r.times[i].schedule) })
			})
			t.Logf("%s, values from the other half of %d: %v: %.2f %%, %.1f %%, %.1f %% (%s)", kind, len(other), values, 100*mean, 100*high, 100*worst, where)
			if mean > 0.003 || worst > 0.05 {
				t.Errorf("%s: values that one half of the recordings can do without cost the other %.2f %% in the mean, %.1f %% at worst", kind, 100*mean, 100*worst)
			}
		}
	}
}

// left is values of stream's parameters, with every family but stream and global.
type left map[string][]int

func (l left) leaveOut(s space.Schedule) bool {
	if s.Family() != "stream" {
		return s.Family() != "global"
	}
	for _, x := range s.Fields() {
		if slices.Contains(l[x.Name], x.Value) {
			return true
		}
	}
	return false
}

// derive finds what recordings can do without. Of values that make nearly the same kernel as their neighbours (warps,
// rows, the register limit): what was best in one recording of eight at most, and costs 0.15 % in the mean and
// 4 % at worst. Of stream tiles and time steps, which a few sizes ask for by a fifth of the time: those at the
// ends of their range, the many steps and the few and many stream tiles, that were never the best.
func derive(list []*recording) left {
	best := map[string]map[int]int{} // how often a value was the best's, by parameter
	for _, r := range list {
		i := slices.IndexFunc(r.times, func(x timed) bool { return x.seconds == r.best })
		for _, x := range r.times[i].schedule.Fields() {
			if best[x.Name] == nil {
				best[x.Name] = map[int]int{}
			}
			best[x.Name][x.Value]++
		}
	}
	found := left{}
	for _, p := range list[0].space.Family("stream").Params {
		backwards := slices.Clone(p.Values)
		slices.Reverse(backwards)
		ends := [][]int{backwards}
		switch {
		case len(p.Values) == 1:
		case p.Name == "wp" || p.Name == "vy" || p.Name == "mb":
			for _, v := range p.Values {
				one := left{p.Name: {v}}
				mean, _, worst, _ := losses(list, func(r *recording) float64 {
					return r.loss(func(i int) bool { return !one.leaveOut(r.times[i].schedule) })
				})
				if 8*best[p.Name][v] <= len(list) && mean <= 0.0015 && worst <= 0.04 {
					found[p.Name] = append(found[p.Name], v)
				}
			}
		case p.Name == "ck":
			ends = append(ends, p.Values)
			fallthrough
		case p.Name == "ph":
			for _, end := range ends {
				for _, v := range end {
					if best[p.Name][v] > 0 {
						break
					}
					found[p.Name] = append(found[p.Name], v)
				}
			}
		}
	}
	return found
}

// winner is a tune in Go benchmark text: what was found, as a comment, and then the problem.
var winner = regexp.MustCompile(`(?m)^# (\w+/\S+)\nBenchmark(?:Tuned|Catalogue)/([\w-]+)/(\w+)/(\d+(?:x\d+)*) `)

// TestAdviceKeepsWhatTunesFound looks at the schedules that tunes of the catalogue found at other
// sizes, in other element types, with other boundaries and of several fields and stages: advice must keep
// them, or where they were recorded, for a stencil of the same reach, something no more than 1 % slower.
func TestAdviceKeepsWhatTunesFound(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all recordings: nothing for the race detector")
	}
	var recorded []*recording
	found, left := 0, 0
	for _, file := range []string{"stencils-default.txt", "stencils-paper.txt", "stencils-thesis.txt", "families.txt"} {
		text, err := os.ReadFile("../../bench/h200/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range winner.FindAllStringSubmatch(string(text), -1) {
			found++
			st := stenciltest.Lookup(t, m[2])
			n, err := stencil.ParseSize(m[4], st.Dims)
			if err != nil {
				t.Fatal(err)
			}
			p := stencil.Problem{Stencil: st, DType: stencil.DType(m[3]), Size: n, Steps: cmp.Or(st.Steps, 1000)}
			s := spacetest.Schedule(t, m[1])
			sp := Space(p, machinetest.H200())
			if err := sp.Check(s); err != nil {
				t.Errorf("%s: %s: %v", file, p.Text(), err)
				continue
			}
			advice := sp.Advised().Check(s)
			if advice == nil {
				continue
			}
			left++
			if recorded == nil {
				recorded = recordings(t)
			}
			near := nearest(recorded, p, s)
			if near == nil {
				t.Errorf("%s: %s: %v; and it was recorded nowhere", file, p.Text(), advice)
				continue
			}
			own := near.times[slices.IndexFunc(near.times, func(x timed) bool { return x.schedule == s })].seconds
			kept := near.best * (1 + near.loss(func(i int) bool { return near.advised[i] }))
			t.Logf("%s: %s: %s is left out; what is kept for %s takes %+.1f %%", file, p.Text(), s, near.problem.Text(), 100*(kept/own-1))
			if kept > 1.01*own {
				t.Errorf("%s: %s: %v; what is kept for %s is %.1f %% slower", file, p.Text(), advice, near.problem.Text(), 100*(kept/own-1))
			}
		}
	}
	t.Logf("%d tunes, of %d the schedule is left out", found, left)
	if found < 110 {
		t.Errorf("%d tunes are read", found)
	}
}

// nearest is the recording of the nearest size that holds a schedule, of the same stencil or else of one
// with the same reach, of rows of the same parts if there is one; nil if there is none.
func nearest(list []*recording, p stencil.Problem, s space.Schedule) (best *recording) {
	low := math.Inf(1)
	for _, r := range list {
		st := r.problem.Stencil
		if st.Dims != p.Stencil.Dims || st.Low != p.Stencil.Low || st.High != p.Stencil.High || r.problem.DType != p.DType ||
			!slices.ContainsFunc(r.times, func(x timed) bool { return x.schedule == s }) {
			continue
		}
		d := 0.0
		for a := range p.Size {
			d = math.Hypot(d, math.Log(float64(p.Size[a])/float64(r.problem.Size[a])))
		}
		if kernels.WholePart(4, p.Size[0]) != kernels.WholePart(4, r.problem.Size[0]) {
			d += 10 // rows move in other parts, by another compiled kernel
		}
		if st.Name != p.Stencil.Name {
			d += 100
		}
		if d < low {
			best, low = r, d
		}
	}
	return best
}

// Advice is for problems like those recorded: every other one has its whole space.
func TestAdviceIsForWhatWasRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("lists whole spaces: nothing for the race detector")
	}
	large, cube := stencil.Size{4096, 4096, 1}, stencil.Size{256, 256, 256}
	one := catalogued(t, "jacobi2d", stencil.Float32, large)
	one.Steps = 1
	for _, c := range []struct {
		p    stencil.Problem
		some bool
	}{
		{catalogued(t, "jacobi2d", stencil.Float32, large), true},
		{catalogued(t, "jacobi2d", stencil.Float64, large), true},
		{catalogued(t, "gradient2d", stencil.Float32, large), true},
		{catalogued(t, "jacobi3d", stencil.Float32, cube), true},
		{catalogued(t, "poisson3d", stencil.Float64, cube), true},
		{one, false}, // a step at a time
		{catalogued(t, "jacobi2d", stencil.Float16, large), false},
		{catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{700, 700, 1}), false},
		{catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{100, 100000, 1}), false},
		{catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{60, 60, 60}), false},
		{catalogued(t, "box9", stencil.Float32, large), false},      // reach 4
		{catalogued(t, "plate", stencil.Float32, large), false},     // EdgeValue
		{catalogued(t, "hotspot2d", stencil.Float32, large), false}, // scalars and a read-only array
		{catalogued(t, "srad2", stencil.Float32, large), false},     // two stages
		{catalogued(t, "life3d", stencil.Int32, cube), false},       // integers
		{catalogued(t, "acoustic3d", stencil.Float32, cube), false}, // several fields
		{catalogued(t, "sum3d-f64", stencil.Float64, large), false}, // reach 1, but one row deep
		{line(t, 1<<26), false},
	} {
		sp := Space(c.p, machinetest.H200())
		advised := sp.Advised()
		if less := advised.Size() < sp.Size(); less != c.some {
			t.Errorf("%s: %d of %d schedules are left", c.p.Text(), advised.Size(), sp.Size())
		}
		if sp.Size() != kernels.Spaces(Families(), c.p, machinetest.H200()).Size() {
			t.Errorf("%s: advice takes schedules out of the space itself", c.p.Text())
		}
		for s := range advised.All() {
			if err := advised.Check(kernels.Remainder(s)); err != nil {
				t.Fatalf("%s: %v", c.p.Text(), err)
			}
		}
	}
	host := machinetest.H200()
	host.Kind = "host"
	old := machinetest.H200()
	old.ComputeCapability = "7.5"
	p := catalogued(t, "jacobi2d", stencil.Float32, large)
	for _, sp := range []*space.Space{Space(p, host), Space(p, old)} {
		if sp.Advised().Size() != sp.Size() {
			t.Error("advice holds on a machine on which nothing is known")
		}
	}
	for _, f := range Space(p, machinetest.H200()).Families() {
		for _, c := range f.Advice {
			if !c.Advice || c.Why == "" || len(c.Needs) == 0 {
				t.Errorf("%s: %+v", f.Name, c)
			}
		}
	}
}
