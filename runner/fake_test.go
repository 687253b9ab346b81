package runner

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

// box is a kernel family of a few schedules: the shared shape and one parameter more.
type box struct {
	name   string
	params []space.Param
}

func (f box) Name() string { return f.name }
func (f box) Space(p stencil.Problem, _ machine.Machine) *space.Family {
	room := space.Constraint{Name: "room", Why: "a tile of doubles has less than 1024 cells", OK: func(v space.Values) bool {
		return p.DType != stencil.Float64 || v.Get("gx")*v.Get("gy")*v.Get("wx") < 1024
	}}
	for _, x := range f.params {
		room.Needs = append(room.Needs, x.Name)
	}
	return &space.Family{Name: f.name, Params: f.params, Constraints: []space.Constraint{room}}
}
func (f box) Work(stencil.Problem, space.Schedule) kernels.Work { return kernels.Work{} }
func (f box) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	h := kernels.ShapeOf(s)
	return kernels.Kernel{Schedule: s, Source: "source of " + s.String() + " in " + string(p.DType), Entry: "k", DType: p.DType,
		Launch: kernels.Launch{Grid: h.Grid(p.Size), Block: h.Group, Steps: h.Pyramid}}
}

func boxOf(name string, gx, gy, wx []int, last string, values []int) box {
	one, off := []int{1}, []int{0}
	f := box{name: name}
	for i, v := range [][]int{gx, gy, one, wx, one, one, off, off, values} {
		f.params = append(f.params, space.Param{Name: []string{"gx", "gy", "gz", "wx", "wy", "wz", "cw", "zz", last}[i], Values: v, Ordinal: true})
	}
	return f
}

// smallFamilies have 24 + 24 schedules, the three usual naive ones among them.
func smallFamilies() []kernels.Family {
	return []kernels.Family{
		boxOf("global", []int{32, 64, 128}, []int{1, 2, 4, 8}, []int{1, 2}, "sp", []int{0}),
		boxOf("tile", []int{32, 64}, []int{4, 8}, []int{1, 2}, "ph", []int{1, 2, 4}),
	}
}

func global(gx, gy, wx int) string {
	return fmt.Sprintf("global/gx=%d/gy=%d/gz=1/wx=%d/wy=1/wz=1/cw=0/zz=0/sp=0", gx, gy, wx)
}

func tile(gx, gy, wx, ph int) string {
	return fmt.Sprintf("tile/gx=%d/gy=%d/gz=1/wx=%d/wy=1/wz=1/cw=0/zz=0/ph=%d", gx, gy, wx, ph)
}

// naives are the baseline's schedules in order; the first judges the others.
var naives = []string{global(64, 4, 1), global(32, 8, 1), global(128, 2, 1)}

// The device's calls, as events and as the places where a script may interfere.
const (
	opCompile = "compile"
	opSmall   = "check-small" // against the reference
	opFull    = "check-full"  // against the trusted kernel
	opTime    = "time"
	opFinals  = "time-together"
	// in float64, of a problem in float32
	opCompileDouble = "compile-double"
	opDouble        = "check-double"
)

// event is one call of the device or the journal.
type event struct {
	op       string
	schedule string
	status   timing.Status // of a record
	next     string        // of a record
	check    device.Check
	timing   device.Timing
}

// fake is a scriptable device in memory.
type fake struct {
	t       testing.TB
	machine machine.Machine
	seconds func(s string) float64          // true seconds per step
	noise   float64                         // relative, uniform on both sides
	seed    uint64                          // of the noise
	slow    func(timed int) float64         // factor at the n-th call of Time, from 0
	delay   func(op, s string)              // before a call answers
	fail    func(op, s string, n int) error // at the n-th such call for this schedule, from 0
	wrong   func(c device.Check) string     // "", "wrong" or "guard"
	seen    func(c device.Check) (seen string, blind int64)
	empty   func(op, s string, n int) bool // no accepted samples
	trust   map[string]bool                // may be timed unchecked: an earlier run proved them
	regs    func(s string) int
	peers   []*fake // whose proofs count too: members of one device, itself among them

	mu     sync.Mutex
	serial int
	timed  int
	busy   bool
	live   map[string]bool
	calls  map[string]int
	small  map[string]bool
	full   map[string]bool
	events []event
	judge  string // the first schedule with a time: the trusted one
}

func newFake(t testing.TB) *fake {
	return &fake{
		t: t, noise: 0.001, live: map[string]bool{}, calls: map[string]int{}, small: map[string]bool{}, full: map[string]bool{}, trust: map[string]bool{},
		machine: machine.Machine{
			Kind: machine.Host, Name: "Fake", SMs: 4, WarpSize: 32, MaxThreadsBlock: 1024, MaxBlockDim: [3]int{1024, 1024, 64},
			MaxGridDim: [3]int{1<<31 - 1, 65535, 65535}, MaxThreadsSM: 2048, MaxBlocksSM: 32, RegistersBlock: 65536, RegistersSM: 65536,
			SharedBlock: 48 << 10, SharedBlockOptin: 227 << 10, SharedSM: 228 << 10, SharedReserved: 1 << 10,
		},
		seconds: hashed,
	}
}

func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// hashed gives every schedule a time of its own between 100 and 125 us; the naive
// ones are at the lower end.
func hashed(s string) float64 {
	if i := slices.Index(naives, s); i >= 0 {
		return 100e-6 * (1 + 0.02*float64(i))
	}
	return 105e-6 + 20e-6*float64(hash(s)%1000)/1000
}

// at gives some schedules their own times.
func at(times map[string]float64) func(string) float64 {
	return func(s string) float64 {
		if v, ok := times[s]; ok {
			return v
		}
		return hashed(s)
	}
}

func (d *fake) Machine() machine.Machine { return d.machine }

// enter counts a call and gives what the script says.
func (d *fake) enter(ctx context.Context, op, s string) error {
	d.mu.Lock()
	n := d.calls[op+s]
	d.calls[op+s]++
	d.mu.Unlock()
	if d.delay != nil {
		d.delay(op, s)
	}
	var err error
	if d.fail != nil {
		err = d.fail(op, s, n)
	}
	if err != errHang {
		return err
	}
	<-ctx.Done()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return device.Fail(timing.Timeout, "no end within the deadline")
	}
	return ctx.Err()
}

// errHang makes a call wait for the end of its context.
var errHang = errors.New("hang")

func (d *fake) Compile(ctx context.Context, k kernels.Kernel) (device.Binary, error) {
	s := k.Schedule.String()
	op := opCompile
	if k.DType == stencil.Float64 {
		op = opCompileDouble
	}
	d.log(event{op: op, schedule: s})
	if err := d.enter(ctx, op, s); err != nil {
		return device.Binary{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.serial++
	b := device.Binary{ID: fmt.Sprint("b", d.serial), Schedule: k.Schedule, Entry: k.Entry, Registers: 32, BlocksPerSM: 4,
		CompileSeconds: 0.5, Compiler: "fakecc 1", Options: []string{"-O"}}
	if d.regs != nil {
		b.Registers = d.regs(s)
	}
	d.live[b.ID] = true
	return b, nil
}

func (d *fake) log(e event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, e)
}

// begin and end enclose a call that must be alone on the device, with live binaries.
func (d *fake) begin(passes ...device.Pass) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy {
		d.t.Error("two calls at once on the device")
	}
	d.busy = true
	d.demand(passes)
}

func (d *fake) end(passes ...device.Pass) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy = false
	d.demand(passes)
}

func (d *fake) demand(passes []device.Pass) {
	for _, p := range passes {
		if !d.live[p.Binary.ID] {
			d.t.Errorf("%s is used but not loaded", p.Binary.Schedule)
		}
	}
}

func (d *fake) Check(ctx context.Context, c device.Check) (stencil.Comparison, error) {
	all := slices.Concat(c.Passes, c.Trusted)
	d.begin(all...)
	defer d.end(all...)
	s, op := c.Passes[0].Binary.Schedule.String(), opSmall
	if c.Trusted != nil {
		op = opFull
	}
	if c.Problem.DType == stencil.Float64 {
		op = opDouble
	}
	d.log(event{op: op, schedule: s, check: c})
	if err := d.enter(ctx, op, s); err != nil {
		return stencil.Comparison{}, err
	}
	cmp := stencil.Comparison{Cells: c.Problem.Size.Cells(), Steps: device.Steps(c.Passes), Against: "reference", MaxError: max(stencil.Of(c.Allowed, 0).Error, 1e-7) / 2, Tolerance: stencil.Of(c.Allowed, 0).Error}
	if c.Trusted != nil {
		cmp.Against = c.Trusted[0].Binary.Schedule.String()
	}
	if d.wrong != nil {
		switch d.wrong(c) {
		case "wrong":
			cmp.Wrong, cmp.First, cmp.Got, cmp.Want = 7, 3, "NaN", "0.5"
		case "guard":
			cmp.Guard = 2
		}
	}
	if d.seen != nil {
		cmp.Seen, cmp.Blind = d.seen(c)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch op {
	case opSmall:
		d.small[s] = cmp.OK()
	case opFull:
		d.full[s] = cmp.OK()
	}
	return cmp, nil
}

func (d *fake) Time(ctx context.Context, r device.Timing) ([]timing.Series, error) {
	d.begin(r.Runs...)
	defer d.end(r.Runs...)
	op := opTime
	if r.Interleaved {
		op = opFinals
	}
	d.mu.Lock()
	factor := 1.0
	if d.slow != nil {
		factor = d.slow(d.timed)
	}
	d.timed++
	d.mu.Unlock()
	if until, ok := ctx.Deadline(); !ok || time.Until(until).Seconds() < r.Policy.TimeLimit*float64(len(r.Runs)) {
		d.t.Errorf("the deadline leaves less than the policy grants %d schedules", len(r.Runs))
	}
	var samplers []*timing.Sampler
	var noises []*rand.Rand
	for _, run := range r.Runs {
		s := run.Binary.Schedule.String()
		d.log(event{op: op, schedule: s, timing: r})
		d.proved(s, r.Interleaved)
		if err := d.enter(ctx, op, s); err != nil {
			return nil, err
		}
		d.mu.Lock()
		n := d.calls[op+s]
		d.mu.Unlock()
		samplers = append(samplers, timing.NewSampler(r.Policy, 2, 2*run.Launch.Steps))
		noises = append(noises, rand.New(rand.NewPCG(d.seed, hash(op+s)+uint64(n))))
	}
	for more := true; more; {
		more = false
		for _, s := range samplers { // interleaved runs go on until all are content
			more = more || s.More()
		}
		for i, s := range samplers {
			if !more {
				break
			}
			run := r.Runs[i]
			text := run.Binary.Schedule.String()
			d.mu.Lock()
			n := d.calls[op+text] - 1
			d.mu.Unlock()
			throttled := d.empty != nil && d.empty(op, text, n)
			s.Add(d.seconds(text)*factor*(1+d.noise*(2*noises[i].Float64()-1))*float64(2*run.Launch.Steps), throttled)
		}
	}
	var all []timing.Series
	for _, s := range samplers {
		all = append(all, s.Series())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.judge == "" && all[0].N > 0 {
		d.judge = r.Runs[0].Binary.Schedule.String()
	}
	return all, nil
}

// proved demands that a schedule's answers were right on the small grid before it is
// timed, and on the whole problem before it is timed against others.
func (d *fake) proved(s string, interleaved bool) {
	small, full := false, false
	for _, p := range slices.Concat(d.peers, []*fake{d}) {
		p.mu.Lock()
		small, full = small || p.small[s], full || p.full[s]
		p.mu.Unlock()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.trust[s] && (!small || interleaved && !full && s != d.judge && d.judge != "") {
		d.t.Errorf("%s is timed, but its answer was not proved: small grid %v, full problem %v", s, small, full)
	}
}

func (d *fake) Release(b device.Binary) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.live, b.ID)
}

func (d *fake) Close() error { return nil }

// of gives the events of some kinds.
func (d *fake) of(ops ...string) []event {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(d.events), func(e event) bool { return !slices.Contains(ops, e.op) })
}

// count is how often a schedule was in a call.
func (d *fake) count(op, s string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[op+s]
}

// journal is a Journal in memory that shares the device's log of events.
type journal struct {
	d     *fake
	known map[string]outcome.Outcome
	fail  func(n int) error // at the n-th Record
	n     int
	kept  []outcome.Outcome
}

func (j *journal) Known(s space.Schedule, sourceHash string) (outcome.Outcome, bool) {
	o, ok := j.known[s.String()]
	if ok && o.SourceHash != sourceHash {
		j.d.t.Errorf("%s is asked for with another source", s)
	}
	return o, ok
}

func (j *journal) Record(outcomes []outcome.Outcome, next ...space.Schedule) error {
	if j.fail != nil {
		if err := j.fail(j.n); err != nil {
			return err
		}
	}
	j.n++
	if len(outcomes) > 1 || len(next) > 1 {
		j.d.t.Errorf("%d outcomes and %d next in one record", len(outcomes), len(next))
	}
	e := event{op: "record"}
	for _, o := range outcomes {
		e.schedule, e.status = o.Schedule.String(), o.Status
		j.kept = append(j.kept, o)
	}
	for _, s := range next {
		e.next = s.String()
	}
	j.d.log(e)
	return nil
}

// script is a strategy that proposes a fixed list.
type script struct {
	list []space.Schedule
	told []outcome.Outcome
}

func (s *script) Name() string { return "script" }
func (s *script) Ask(n int) []space.Schedule {
	n = min(n, len(s.list))
	asked := s.list[:n]
	s.list = s.list[n:]
	return asked
}
func (s *script) Tell(os []outcome.Outcome) { s.told = append(s.told, os...) }

// watcher calls back.
type watcher struct {
	phase     func(string)
	evaluated func(o, best outcome.Outcome, p search.Progress)
}

func (w watcher) Phase(name string) {
	if w.phase != nil {
		w.phase(name)
	}
}

func (w watcher) Trying(space.Schedule) {}

func (w watcher) Evaluated(o, best outcome.Outcome, p search.Progress) {
	if w.evaluated != nil {
		w.evaluated(o, best, p)
	}
}

func problem(t testing.TB) stencil.Problem {
	t.Helper()
	return stencil.Problem{Stencil: stenciltest.Lookup(t, "jacobi2d"), DType: stencil.Float32, Size: stencil.Size{129, 65, 1}, Steps: 100}
}

// options are those of a tune of the small families that tries the given
// schedules, or all in order if there are none.
func options(t testing.TB, d *fake, texts ...string) Options {
	t.Helper()
	p := problem(t)
	o := Options{Problem: p, Device: d, Families: smallFamilies(), Regime: timing.Warm, Seed: 5}
	o.Space = kernels.Spaces(o.Families, p, d.machine)
	o.Strategy = strategy(t, "exhaustive", o.Space, 1)
	if len(texts) > 0 {
		o.Strategy = &script{list: spacetest.Schedules(t, texts...)}
	}
	return o
}

func strategy(t testing.TB, name string, sp *space.Space, seed uint64) search.Strategy {
	t.Helper()
	s, err := search.New(name, search.Options{Space: sp, Seed: seed, Prior: func(s space.Schedule) float64 { return float64(hash(s.String()) % 97) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Tune is all phases of a search, one after the other.
func Tune(ctx context.Context, o Options) (Result, error) {
	t := New(o)
	err := t.Baseline(ctx)
	if err == nil {
		err = t.Search(ctx)
	}
	if err == nil {
		err = t.Finals(ctx)
	}
	return t.End(ctx, err)
}

// tune tunes and demands that nothing stays loaded.
func tune(ctx context.Context, t testing.TB, o Options) (Result, error) {
	t.Helper()
	r, err := Tune(ctx, o)
	switch d := o.Device.(type) {
	case *fake:
		empty(t, d)
	case *simulated:
		empty(t, d.fake)
	case *board:
		empty(t, d.fake)
	}
	return r, err
}

func empty(t testing.TB, d *fake) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.live) > 0 {
		t.Errorf("%d binaries stay loaded", len(d.live))
	}
}

// mustTune demands a complete tune.
func mustTune(t testing.TB, o Options) Result {
	t.Helper()
	r, err := tune(t.Context(), t, o)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete || r.Winner.Status != timing.OK {
		t.Fatalf("complete %v, winner %s %s, warnings %q", r.Complete, r.Winner.Schedule, r.Winner.Status, r.Warnings)
	}
	return r
}

func find(t testing.TB, r Result, text string) outcome.Outcome {
	t.Helper()
	for _, o := range r.Outcomes {
		if o.Schedule.String() == text {
			return o
		}
	}
	t.Fatalf("%s has no outcome", text)
	return outcome.Outcome{}
}

func warned(r Result, text string) bool {
	return slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, text) })
}

func texts(os []outcome.Outcome) []string {
	var list []string
	for _, o := range os {
		list = append(list, o.Schedule.String())
	}
	return list
}
