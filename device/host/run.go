package host

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// command prepares a run of a program that writes an answer of so many bytes.
func (d *Device) command(ctx context.Context, answer int64, program string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := bounded(ctx, answer, 0, program, args...)
	cmd.Dir = d.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0", "UBSAN_OPTIONS=print_stacktrace=0"}
	if n := os.Getenv("EMULATION_CORES"); n != "" {
		cmd.Env = append(cmd.Env, "EMULATION_CORES="+n)
	}
	isolate(cmd)
	log := &bytes.Buffer{}
	cmd.Stderr = &limited{w: log, left: device.MaxLog}
	return cmd, log
}

// died turns a program's end into the failure of its schedule, or of the folder.
func (d *Device) died(ctx context.Context, b device.Binary, err error, log string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return device.Fail(timing.Timeout, "%s did not end within its deadline", b.Schedule)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if full := fullFolder.FindString(log); full != "" {
		return d.cannotWrite(full)
	}
	if noMemory.MatchString(log) {
		return outOfMemory()
	}
	reason := err.Error()
	if signal := killedBy(err); signal != 0 {
		reason = fmt.Sprintf("signal %d, %s", signal, signal)
		if signal == syscall.SIGSEGV || signal == syscall.SIGBUS {
			reason += ": out-of-bounds, of an array or of shared memory"
		}
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, "ERROR: ") || strings.Contains(line, "runtime error:") || strings.HasPrefix(line, "emulation: ") {
			reason = strings.TrimSpace(line)
			break
		}
	}
	return &device.Failure{Status: timing.LaunchError, Reason: fmt.Sprintf("%s: %s", b.Schedule, reason), Log: device.Clip(log)}
}

// passText is a pass as the emulation's parse reads it: entry, blocks, threads, shared memory, launches, steps, whether
// it leaves parts of the next step's scalars, and then the launches before each step and, with a plus, those after it.
func passText(of stencil.Problem, p device.Pass) string {
	l := p.Launch
	leaves := 0
	if l.Leaves() {
		leaves = 1
	}
	text := fmt.Sprintf("%s:%d,%d,%d:%d,%d,%d:%d:%d:%d:%d", p.Binary.Entry, l.Grid[0], l.Grid[1], l.Grid[2], l.Block[0], l.Block[1], l.Block[2], l.SharedBytes, p.Count, l.Steps, leaves)
	for _, b := range kernels.StepLaunches(of, p.Binary.Entry) {
		text += fmt.Sprintf(":%s,%d,%d", b.Entry, b.Launch.Grid[0], b.Launch.Block[0])
	}
	for _, a := range kernels.SparseLaunches(of, p.Binary.Entry, l.Steps) {
		text += fmt.Sprintf(":+%s,%d,%d", a.Entry, a.Launch.Grid[0], a.Launch.Block[0])
	}
	return text
}

// dataText is a program's arguments that say what it works on: extents, arrays and
// scalars, as the emulation's parse_data reads them, and the seed.
func dataText(p stencil.Problem, seed uint32) []string {
	st := p.Stencil
	types := []string{p.DType.Plain().Short()}
	var scales, arrays, lengths, numbers, outputs, copies []string
	for a := range len(st.Fields) + len(st.ReadOnly) {
		c := p.InputScale(a)
		types = append(types, p.Stored(a).Plain().Short())
		scales = append(scales, fmt.Sprintf("%g,%g,%g", c.Low, c.Step, c.Quantum))
	}
	for i, n := range p.Lengths() {
		arrays = append(arrays, strconv.FormatInt(n, 10))
		if st.ReadOnly[i].Indexed {
			lengths = append(lengths, strconv.FormatInt(n, 10))
		}
	}
	for i, n := range p.ScalarValues() {
		if v := strconv.FormatFloat(n, 'g', -1, 64); st.Scalars[i].Type.Floating() {
			numbers = append(numbers, v)
		} else {
			lengths = append(lengths, v)
		}
	}
	all := st.Stages
	if f := st.Merged(); f != nil && f != st {
		all = append(slices.Clone(all), f.Stages...)
	}
	for _, stage := range all {
		outputs = append(outputs, strings.Trim(strings.ReplaceAll(fmt.Sprint(stage.Outputs), " ", "."), "[]"))
		for _, c := range stage.Copies { // only a step of one stage has any
			copies = append(copies, fmt.Sprint(c.Field), fmt.Sprint(c.From))
		}
	}
	var lists []string
	for i := range st.Sparse {
		places, table := p.PlaceScale(), p.TableScale(i)
		lists = append(lists, fmt.Sprintf("%d,%d,%d,%d,%g,%g,%g,%g,%g,%g", st.Sparse[i].Field, stencil.SparsePlaces, stencil.SparseRows, stencil.RowsFor(seed),
			places.Low, places.Step, places.Quantum, table.Low, table.Step, table.Quantum))
	}
	return []string{strconv.Itoa(p.Size[0]), strconv.Itoa(p.Size[1]), strconv.Itoa(p.Size[2]),
		fmt.Sprintf("%s;%d;%s;%s;%s;%s;%s;%s;%d,%d;%s;", strings.Join(types, ","), len(st.Fields), strings.Join(scales, ","),
			strings.Join(arrays, ","), strings.Join(lengths, ","), strings.Join(numbers, ","), strings.Join(outputs, "/"), strings.Join(copies, ","),
			kernels.StepDoubles(st), len(st.StepScalars), strings.Join(lists, "/")),
		strconv.FormatUint(uint64(seed), 10)}
}

// Answer runs passes from stencil.Start(p, seed) and gives the fields, one after the
// other, as they are stored, and then what receivers recorded. It compares nothing, but an out-of-bounds write is a
// failure.
func (d *Device) Answer(ctx context.Context, p stencil.Problem, passes []device.Pass, seed uint32) ([]byte, error) {
	raw, _, guard, err := d.run(ctx, p, passes, seed)
	if err == nil && guard > 0 {
		err = device.Fail(timing.WrongAnswer, "%s", stencil.Comparison{Guard: guard}.Reason(p.Size))
	}
	return raw, err
}

// run computes passes from the start grid and gives the answer, the numbers of its last step and the guard
// words that changed. Passes of different programs hand the grid on in a file.
func (d *Device) run(ctx context.Context, p stencil.Problem, passes []device.Pass, seed uint32) (raw []byte, numbers []float64, guard int64, err error) {
	end, step := p.FieldBytes()+p.Recorded()*int64(p.DType.Size()), int64(8*len(p.Stencil.StepScalars))
	file, iteration := "", 1
	defer func() { os.Remove(file) }()
	for len(passes) > 0 {
		program, err := d.program(passes[0].Binary)
		if err != nil {
			return nil, nil, 0, err
		}
		answer := d.temp("answer")
		args := append(append([]string{"check"}, dataText(p, seed)...), cmp.Or(file, "-"), strconv.Itoa(iteration), answer)
		first := passes[0].Binary
		for len(passes) > 0 {
			next, err := d.program(passes[0].Binary)
			if err != nil {
				return nil, nil, 0, err
			}
			if next != program {
				break
			}
			args = append(args, passText(p, passes[0]))
			iteration += passes[0].Count * passes[0].Launch.Steps
			passes = passes[1:]
		}
		cmd, log := d.command(ctx, end+step, program, args...)
		out, err := output(cmd)
		os.Remove(file)
		file = answer
		if err != nil {
			return nil, nil, 0, d.died(ctx, first, err, log.String())
		}
		var changed int64
		if _, err := fmt.Sscanf(out, "guard %d", &changed); err != nil {
			return nil, nil, 0, device.Fail(timing.LaunchError, "%s: garbled output %.40q", first.Schedule, out)
		}
		guard += changed
	}
	if raw, err = os.ReadFile(file); err != nil {
		return nil, nil, guard, err
	}
	if int64(len(raw)) != end+step {
		return nil, nil, guard, fmt.Errorf("host: answer of %d bytes, want %d", len(raw), end+step)
	}
	return raw[:end], stencil.Widen(stencil.Float64, raw[end:]), guard, nil
}

// Check runs passes and compares with the reference or the trusted passes.
func (d *Device) Check(ctx context.Context, c device.Check) (stencil.Comparison, error) {
	if c.Reduce {
		q := c.Problem
		q.Stencil = q.Stencil.Reduction()
		raw, _, guard, err := d.run(ctx, q, c.Passes, c.Seed)
		if err != nil {
			return stencil.Comparison{}, err
		}
		at := c.Problem.FieldBytes() // of the first field after the step
		return c.Reduced(raw[at:at+int64(8*c.Passes[0].Launch.Blocks())], guard), nil
	}
	steps := device.Steps(c.Passes)
	found := stencil.Comparison{Cells: c.Problem.Size.Cells() * int64(len(c.Problem.Stencil.Fields)), Steps: steps, Against: "reference"}
	if len(c.Trusted) > 0 {
		found.Against = c.Trusted[0].Binary.Schedule.String()
	}
	raw, numbers, guard, err := d.run(ctx, c.Problem, c.Passes, c.Seed) // first: one that fails costs no reference
	if err != nil {
		return found, err
	}
	want, err := d.expect(ctx, c, steps)
	if err != nil {
		return found, err
	}
	r := want.Within(c.Problem, c.Problem.Forget(c.Problem.Widen(raw)), c.Allowed)
	r.Recorded, r.Steps, r.Against, r.Guard = c.Problem.Recorded(), steps, found.Against, guard
	if len(c.Trusted) == 0 {
		r = want.CompareNumbers(r, numbers)
	}
	return r, nil
}

// maxKept bounds the expected answers kept, in cells.
const maxKept = 64 << 20

// expect computes the answer to compare with, or finds it from an earlier check.
func (d *Device) expect(ctx context.Context, c device.Check, steps int) (stencil.Verdict, error) {
	key := wantKey{course: c.Problem.Course(c.Seed), steps: steps}
	if len(c.Trusted) > 0 {
		key.trusted = c.Trusted[0].Binary.ID
	}
	d.mu.Lock()
	want, ok := d.want[key]
	kept := 0
	for _, w := range d.want {
		kept += len(w.Want)
	}
	if kept > maxKept {
		clear(d.want)
	}
	d.mu.Unlock()
	if ok {
		return want, nil
	}
	if len(c.Trusted) > 0 {
		raw, _, _, err := d.run(ctx, c.Problem, c.Trusted, c.Seed)
		if err != nil {
			return stencil.Verdict{}, err
		}
		want.Want = c.Problem.Forget(c.Problem.Widen(raw))
	} else {
		want = stencil.Judge(c.Problem, c.Seed, steps)
	}
	d.mu.Lock()
	d.want[key] = want
	d.mu.Unlock()
	return want, nil
}

// session is a program that times one kernel.
type session struct {
	device   *Device
	run      device.Pass
	cmd      *exec.Cmd
	log      *bytes.Buffer
	in       io.WriteCloser
	out      *bufio.Reader
	sampler  *timing.Sampler
	launches int
}

// Time measures by the monotonic clock. The cold regime is refused: the host's
// caches cannot be flushed from outside.
func (d *Device) Time(ctx context.Context, t device.Timing) ([]timing.Series, error) {
	if t.Policy.Regime == timing.Cold {
		return nil, device.Fail(timing.LaunchError, "the host cannot time with cold caches")
	}
	var sessions []*session
	defer func() {
		for _, s := range sessions {
			s.in.Close()
			s.cmd.Wait()
		}
	}()
	for _, run := range t.Runs {
		s, err := d.session(ctx, t, run)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
		once, err := s.sample(ctx, 1)
		if err != nil {
			return nil, err
		}
		s.launches = t.Policy.LaunchesFor(once)
		s.sampler = timing.NewSampler(t.Policy, s.launches, s.launches*run.Launch.Steps)
		s.sampler.Warmed(once)
	}
	for more := true; more; {
		more = false
		for _, s := range sessions {
			for s.sampler.More() {
				elapsed, err := s.sample(ctx, s.launches)
				if err != nil {
					return nil, err
				}
				s.sampler.Add(elapsed, false)
				more = true
				if t.Interleaved {
					break
				}
			}
		}
	}
	var all []timing.Series
	for _, s := range sessions {
		all = append(all, s.sampler.Series())
	}
	return all, nil
}

func (d *Device) session(ctx context.Context, t device.Timing, run device.Pass) (*session, error) {
	program, err := d.program(run.Binary)
	if err != nil {
		return nil, err
	}
	run.Count = 1
	s := &session{device: d, run: run}
	s.cmd, s.log = d.command(ctx, 0, program, append(append([]string{"time"}, dataText(t.Problem, 1)...), strconv.Itoa(stencil.Iterations), passText(t.Problem, run))...)
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	return s, nil
}

// sample runs some launches and gives the seconds they took.
func (s *session) sample(ctx context.Context, launches int) (float64, error) {
	fmt.Fprintln(s.in, launches)       // where nobody reads it, what is printed tells why
	line, err := s.out.ReadSlice('\n') // no further than its buffer
	if err == nil || errors.Is(err, bufio.ErrBufferFull) {
		seconds, err := strconv.ParseFloat(strings.TrimSpace(string(line)), 64)
		if err == nil {
			return seconds, nil
		}
		s.cmd.Cancel() // it may print for ever
		return 0, device.Fail(timing.LaunchError, "%s: garbled output %.40q", s.run.Binary.Schedule, line)
	}
	err = s.cmd.Wait()
	if err == nil {
		err = errors.New("the program ended early")
	}
	return 0, s.device.died(ctx, s.run.Binary, err, s.log.String())
}
