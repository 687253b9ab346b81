package host

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/timing"
)

//go:embed emulation/emulation.h
var emulation string

//go:embed emulation/runtime.cpp
var runtimeSource string

//go:embed emulation/races.h
var racesSource string

// staticArray finds shared memory of a kernel that is declared with its size, in doubles. A static array whose address nobody takes is the compiler's own,
// which it does not watch.
var staticArray = regexp.MustCompile(`__shared__ double (\w+)\[(\w+)\];`)

const staticWatched = "__shared__ double ${1}_shared[$2]; double (*volatile ${1}_at)[$2] = &${1}_shared; double (&$1)[$2] = *${1}_at;"

// sharedArray is how a kernel declares its dynamic shared memory. C++ has no such
// thing inside a function, so the emulation's takes its place.
const (
	sharedArray    = "extern __shared__ __align__(16) unsigned char shared_bytes[];"
	sharedReplaced = "unsigned char *const shared_bytes = emulated.shared;"
)

// stepEntry finds the entries of launches before a step (kernels.StepLaunches) and after it (kernels.SparseLaunches).
var stepEntry = regexp.MustCompile(`#define (?:FOLD|LAST|LIST)_ENTRY (\w+_(fold|last|list)_(\d+))\n`)

// waits finds what makes threads wait, for each other or for copies.
var waits = regexp.MustCompile(`__syncthreads|__syncwarp|_sync\s*\(|copies_wait|emulated_await`)

// How far the compiler optimizes what is timed, and what runs once in a proof: there -O2, or a copy of a function for each call, would take it longer
// than it saves.
var (
	forSpeed = []string{"-O2"}
	forProof = []string{"-O1", "-DEMULATED_PROOF"}
)

// flags are fixed: nothing of a stencil file reaches the command line.
func (d *Device) flags(optimize []string) []string {
	f := append([]string{"-std=c++17", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-pthread"}, optimize...)
	if d.options.Sanitize {
		f = append(f, "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
	}
	if d.options.Races {
		f = append(f, "-DEMULATED_RACES")
	}
	return f
}

// watched has the compiler call a function at each access to memory; the runtime, which has these functions, is not built so.
const watched = "-fsanitize=thread"

// maxKilled is how often a compiler is started that somebody kills: mostly the system, which
// was short of memory for a moment.
const maxKilled = 3

// killed finds what a compiler says of a part of it that was killed.
var killed = regexp.MustCompile(`[Ss]ignal terminated program|due to signal|\(program cc1plus\)`)

// cc runs the compiler in the private folder and gives its messages.
func (d *Device) cc(ctx context.Context, args ...string) (log string, err error) {
	for range maxKilled {
		if log, err = d.ccOnce(ctx, args...); err == nil || ctx.Err() != nil || killedBy(err) == 0 && !killed.MatchString(log) {
			break
		}
	}
	return log, err
}

// Limits of what runs here: bytes of a file, beside those of a program's answer, and of the memory of a compiler, which takes less than 1 GiB for any kernel
// of the catalogue. (A program's memory is its arrays.)
const (
	maxFile           = 1 << 30
	maxCompilerMemory = 8 << 30
)

// bounded is a command within limits, which a shell sets where the system has them; answer is the bytes that it has to write.
func bounded(ctx context.Context, answer int64, memory int, program string, args ...string) *exec.Cmd {
	limits := fmt.Sprintf("ulimit -f %d; ", (maxFile+answer)/512)
	if memory > 0 {
		limits += fmt.Sprintf("ulimit -v %d; ", memory/1024)
	}
	return exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", "{ " + limits + `} 2>/dev/null; exec "$0" "$@"`, program}, args...)...)
}

// ccOnce is one run of the compiler, in its own process group and with a small environment.
func (d *Device) ccOnce(ctx context.Context, args ...string) (string, error) {
	cmd := bounded(ctx, 0, maxCompilerMemory, d.compiler, args...)
	cmd.Dir = d.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + d.dir, "LC_ALL=C"}
	isolate(cmd)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{w: &log, left: device.MaxLog}, &limited{w: &log, left: device.MaxLog}
	err := cmd.Run()
	return log.String(), err
}

// isolate puts a command into a process group that is killed as a whole.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
}

// output runs a program and gives what it prints, as far as anyone will read it.
func output(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout = &limited{w: &out, left: maxOutput}
	err := cmd.Run()
	return out.String(), err
}

// maxOutput is more than what a program has to say, in bytes.
const maxOutput = 4 << 10

// killedBy is the signal that ended a program, 0 if none did.
func killedBy(err error) syscall.Signal {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return ws.Signal()
		}
	}
	return 0
}

// limited keeps the beginning of what is written to it.
type limited struct {
	w    *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.w.Write(p[:n])
	return len(p), nil
}

// CompileBatch builds several kernels into one program: far cheaper than one
// each. Their entries must differ. All fail together. They are for proofs: what is timed has a program of its own.
func (d *Device) CompileBatch(ctx context.Context, ks []kernels.Kernel) ([]device.Binary, error) {
	return d.build(ctx, ks, forProof)
}

func (d *Device) build(ctx context.Context, ks []kernels.Kernel, optimize []string) ([]device.Binary, error) {
	ready := make(chan error, 1)
	go func() { ready <- d.runtime() }()
	select {
	case err := <-ready:
		if err != nil {
			return nil, err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case d.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-d.slots }()
	begin := time.Now()
	unit := d.temp("unit") + ".cpp"
	defer os.Remove(unit)
	if err := os.WriteFile(unit, []byte(unitSource(ks, d.options.Races)), 0o600); err != nil {
		return nil, d.cannotWrite(err.Error())
	}
	program := d.temp("kernel")
	limit, cancel := context.WithTimeout(ctx, compileTimeout)
	defer cancel()
	log, err := d.compileUnit(limit, optimize, program, unit)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limit.Err() != nil:
		return nil, device.Fail(timing.CompileTimeout, "%s did not finish %s within %v", d.version, ks[0].Schedule, compileTimeout)
	case err != nil && fullFolder.MatchString(log):
		return nil, d.cannotWrite(fullFolder.FindString(log))
	case err != nil:
		return nil, &device.Failure{Status: timing.CompileError, Reason: firstError(log, err), Log: device.Clip(log)}
	}
	var bs []device.Binary
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range ks {
		b := device.Binary{ID: fmt.Sprintf("%s:%s", filepath.Base(program), k.Entry), Schedule: k.Schedule, Entry: k.Entry, Stages: k.Stages,
			CompileSeconds: time.Since(begin).Seconds() / float64(len(ks)), Compiler: d.version, Options: d.flags(optimize)}
		d.programs[b.ID] = program
		d.users[program]++
		bs = append(bs, b)
	}
	return bs, nil
}

// compileUnit makes a program of a unit and the runtime.
func (d *Device) compileUnit(ctx context.Context, optimize []string, program, unit string) (log string, err error) {
	if d.options.Races { // linked apart, without the sanitizer's library
		object := unit + ".o"
		defer os.Remove(filepath.Join(d.dir, filepath.Base(object)))
		if log, err = d.cc(ctx, append(d.flags(optimize), watched, "-c", "-o", object, unit)...); err != nil {
			return log, err
		}
		unit = object
	}
	args := append(d.flags(optimize), "-o", program, unit, "runtime.o")
	if d.gold.Load() {
		log, err = d.cc(ctx, append([]string{"-fuse-ld=gold"}, args...)...)
		if err == nil || !linking.MatchString(log) {
			return log, err
		}
	}
	log, err = d.cc(ctx, args...)
	if err == nil { // gold is not there, or does not work
		d.gold.Store(false)
	}
	return log, err
}

// linking finds what compilers say where linking failed, or a linker is not there.
var linking = regexp.MustCompile(`(?i)\bld\b|-fuse-ld|linker`)

// compileTimeout bounds one run of the compiler.
const compileTimeout = 2 * time.Minute

func firstError(log string, err error) string {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "error") {
			return strings.TrimSpace(line)
		}
	}
	return err.Error()
}

// unitSource is the C++ of a batch: each kernel in a namespace of its own, and
// the table by which the runtime finds them.
func unitSource(ks []kernels.Kernel, races bool) string {
	var b, table strings.Builder
	b.WriteString("#include \"emulation.h\"\n")
	for i, k := range ks {
		text := strings.ReplaceAll(k.Source, sharedArray, sharedReplaced)
		if races {
			text = staticArray.ReplaceAllString(text, staticWatched)
		}
		fmt.Fprintf(&b, "namespace k%d {\n%s\n}\n#line 1 \"unit\"\n", i, text)
		w := 0
		if waits.MatchString(k.Source) {
			w = 1
		}
		for _, found := range stepEntry.FindAllStringSubmatch(k.Source, -1) {
			scope := "step_scalars::pass_"
			if found[2] == "list" {
				scope = "lists::list_"
			}
			fmt.Fprintf(&table, "  {%q, [](const EmulatedArguments &a) { emulated_call(k%d::%s%s::%s, a); }, 1},\n", found[1], i, scope, found[3], found[1])
		}
		for stage := range max(1, k.Stages) {
			space := fmt.Sprintf("k%d", i)
			if k.Stages > 0 {
				space += fmt.Sprintf("::stage_%d", stage)
			}
			entry := kernels.StageEntry(k.Entry, stage)
			fmt.Fprintf(&table, "  {%q, [](const EmulatedArguments &a) { emulated_call(%s::%s, a); }, %d},\n", entry, space, entry, w)
		}
	}
	fmt.Fprintf(&b, "EmulatedKernel emulated_kernels[] = {\n%s};\nint emulated_kernel_count = sizeof emulated_kernels / sizeof *emulated_kernels;\n", table.String())
	return b.String()
}
