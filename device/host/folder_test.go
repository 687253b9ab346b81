package host_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/device/host"
	"stenciltune/timing"
)

var (
	flagKills    = flag.Int("kills", 8, "kill -9 a program with a device at so many random moments")
	flagKillSeed = flag.Uint64("kill-seed", 20261121, "seed of the moments")
)

const beOwner = "STENCILTUNE_TEST_BE_OWNER"

// TestOwner is no test: it is the program that TestAKilledOwnerLeavesNothing kills. It compiles
// without end, and runs a kernel that never ends.
func TestOwner(t *testing.T) {
	if os.Getenv(beOwner) == "" {
		t.SkipNow()
	}
	d, err := host.Open(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := copyProblem(t, 100)
	go check(t, d, p, copyKernel(p, "const volatile float *cell = out; while (cell[0] != 12345.0f) {}"), time.Hour)
	for {
		if _, err := d.Compile(context.Background(), copyKernel(p, plain)); err != nil {
			t.Fatal(err)
		}
	}
}

// working lists the processes that belong to folders below a folder: by where they work, or
// by their arguments as a guard does.
func working(t *testing.T, below string) (owned, guards []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(all) == 0 {
		t.Skip("there is no /proc")
	}
	for _, dir := range all {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if cwd, err := os.Readlink(dir + "/cwd"); err == nil && strings.HasPrefix(cwd, below+"/") {
			owned = append(owned, pid)
		} else if args, err := os.ReadFile(dir + "/cmdline"); err == nil && strings.Contains(string(args), "guard\x00"+below+"/") {
			guards = append(guards, pid)
		}
	}
	return owned, guards
}

// left says what is left below a folder, "" if nothing is.
func left(t *testing.T, below string) string {
	t.Helper()
	owned, guards := working(t, below)
	folders, err := filepath.Glob(below + "/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(owned)+len(guards)+len(folders) == 0 {
		return ""
	}
	return fmt.Sprintf("processes %v, guards %v, folders %v", owned, guards, folders)
}

func TestAKilledOwnerLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers")
	}
	open(t, host.Options{}) // or there is no compiler
	below, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", below)
	r := rand.New(rand.NewPCG(*flagKillSeed, 1))
	busy := 0
	for kill := range *flagKills {
		owner := exec.Command(os.Args[0], "-test.run=^TestOwner$")
		owner.Env = append(os.Environ(), beOwner+"=1")
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(3 * r.Float64() * float64(time.Second)))
		owned, guards := working(t, below)
		if len(owned) > 0 {
			busy++
		}
		victims := []int{owner.Process.Pid}
		switch kill % 4 {
		case 1: // and its guard before it
			victims = append(guards, victims...)
		case 2: // and all
			victims = append(append(guards, victims...), owned...)
		case 3: // and a while before it a compiler, or what it started, or the kernel's program
			if len(owned) > 0 {
				syscall.Kill(owned[r.IntN(len(owned))], syscall.SIGKILL)
				time.Sleep(time.Duration(r.Float64() * float64(300*time.Millisecond)))
			}
		}
		for _, pid := range victims {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		owner.Wait()
		if kill%4 == 1 || kill%4 == 2 { // nobody is left to clear: the next start does, once they are dead
			for dead := time.Now().Add(10 * time.Second); len(guards) > 0 && time.Now().Before(dead); _, guards = working(t, below) {
				time.Sleep(10 * time.Millisecond)
			}
			d, err := host.Open(host.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
		deadline := time.Now().Add(time.Minute)
		for left(t, below) != "" && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		if l := left(t, below); l != "" {
			t.Fatalf("kill %d, of %d processes: left are %s", kill, len(victims), l)
		}
	}
	if busy == 0 {
		t.Error("not one owner was busy when it was killed: nothing is proved")
	}
	t.Logf("%d kills, seed %d, %d of them with children at work", *flagKills, *flagKillSeed, busy)
}

func TestASweepLeavesTheFoldersOfTheLiving(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers")
	}
	t.Setenv("TMPDIR", t.TempDir())
	first := open(t, host.Options{})
	open(t, host.Options{})
	p := copyProblem(t, 100)
	if c, err := check(t, first, p, copyKernel(p, plain), 2*time.Minute); err != nil || !c.OK() {
		t.Errorf("%v %v", err, c)
	}
}

// builtRuntime is the part that all programs share, of the compiler c++.
var builtRuntime = sync.OnceValues(func() ([]byte, error) {
	d, err := host.Open(host.Options{Compiler: "c++"})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := d.Ready(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(d.Folder(), "runtime.o"))
})

// script is a compiler that is a shell script; "$CXX" in it is a real one. It has what all programs share, which takes
// seconds, and keeps it for no other process.
func script(t *testing.T, text string) host.Options {
	t.Helper()
	real, err := exec.LookPath("c++")
	if err != nil {
		t.Skip(err)
	}
	object, err := builtRuntime()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	here := t.TempDir()
	path, built := filepath.Join(here, "compiler"), filepath.Join(here, "built.o")
	text = "#!/bin/sh\nCXX=" + real + "\nhere=" + here + "\ncase \"$*\" in *runtime.cpp*) exec cp " + built + " runtime.o ;; esac\n" + text
	for file, b := range map[string][]byte{path: []byte(text), built: object} {
		if err := os.WriteFile(file, b, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return host.Options{Compiler: path}
}

func TestACompilerThatHangsOnItsVersionIsNone(t *testing.T) {
	begin := time.Now()
	_, err := host.Open(script(t, "sleep 1000"))
	if took := time.Since(begin); err == nil || took > 20*time.Second {
		t.Errorf("%v after %v", err, took)
	}
}

// A linker that is there and does not work costs nothing: the usual one links.
func TestALinkerThatDoesNotWorkIsDoneWithout(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers")
	}
	for _, says := range []string{"collect2: error: ld returned 1 exit status", "c++: error: unrecognized command-line option '-fuse-ld=gold'"} {
		d := open(t, script(t, `case "$*" in *-fuse-ld*) echo "`+says+`" >&2; exit 1 ;; esac
exec "$CXX" "$@"`))
		p := copyProblem(t, 100)
		if c, err := check(t, d, p, copyKernel(p, plain), 2*time.Minute); err != nil || !c.OK() {
			t.Errorf("%v %v", err, c)
		}
	}
}

func TestAKilledCompilerIsStartedAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers")
	}
	for name, kill := range map[string]string{
		"itself":       "kill -9 $$",
		"a part of it": "echo 'c++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, script(t, `case "$*" in *unit*) if [ ! -e "$here/once" ]; then : > "$here/once"; `+kill+`; fi ;; esac
exec "$CXX" "$@"`))
			p := copyProblem(t, 100)
			if c, err := check(t, d, p, copyKernel(p, plain), 2*time.Minute); err != nil || !c.OK() {
				t.Errorf("%v %v", err, c)
			}
		})
	}
}

// A compiler that makes programs which print for ever.
const endless = `case "$*" in *unit*) ;; *) exec "$CXX" "$@" ;; esac
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\nexec tr "\\000" x < /dev/zero\n' > "$2"
chmod 700 "$2"`

func TestAProgramThatPrintsForEverCostsNoMemory(t *testing.T) {
	d := open(t, script(t, endless))
	p := copyProblem(t, 100)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := check(t, d, p, copyKernel(p, plain), time.Second)
	runtime.ReadMemStats(&after)
	if f := device.AsFailure(err); f == nil || f.Status != timing.Timeout {
		t.Errorf("%v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d MiB were allocated", n>>20)
	}
	k := copyKernel(p, plain)
	b, err := d.Compile(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	begin := time.Now()
	_, err = d.Time(ctx, device.Timing{Problem: p, Policy: timing.Search(), Runs: []device.Pass{{Binary: b, Launch: k.Launch, Count: 1}}})
	if f := device.AsFailure(err); f == nil || !strings.Contains(f.Reason, "garbled") || time.Since(begin) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

// preceded is a compiler whose programs begin with a line of a shell.
func preceded(by string) string {
	return `case "$*" in *unit*) ;; *) exec "$CXX" "$@" ;; esac
"$CXX" "$@" || exit 1
while [ "$1" != -o ]; do shift; done
mv "$2" "$2.all"
printf '#!/bin/sh\n` + by + `\nexec "$0.all" "$@"\n' > "$2"
chmod 700 "$2"`
}

// The arrays are the same for every schedule.
func TestNoScheduleIsBlamedWhereThereIsNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("computes millions of cells")
	}
	d := open(t, script(t, preceded("ulimit -v 40000")))
	for cells, want := range map[int]error{100: nil, 4e6: device.ErrLost, 8e6: device.ErrLost} {
		p := copyProblem(t, cells)
		_, err := check(t, d, p, copyKernel(p, plain), time.Minute)
		if !errors.Is(err, want) || want != nil && (device.AsFailure(err) != nil || !strings.Contains(err.Error(), "no memory left")) {
			t.Errorf("%d cells: %v", cells, err)
		}
	}
}

// What is in the environment of the program reaches neither a compiler nor what it makes.
func TestCompilersAndProgramsSeeLittleOfTheEnvironment(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	for _, name := range []string{"LD_PRELOAD", "CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "LD_LIBRARY_PATH", "DEPENDENCIES_OUTPUT"} {
		t.Setenv(name, "/nonexistent")
	}
	d := open(t, script(t, "env > "+seen+".$$\n"+preceded("env > "+seen+".$$.program")))
	p := copyProblem(t, 100)
	if c, err := check(t, d, p, copyKernel(p, plain), time.Minute); err != nil || !c.OK() {
		t.Fatal(err, c)
	}
	files, _ := filepath.Glob(seen + ".*")
	programs := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(text), "/nonexistent") || !strings.Contains(string(text), "LC_ALL=C") {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
		if strings.HasSuffix(file, ".program") {
			programs++
		}
	}
	if programs == 0 || len(files) == programs {
		t.Errorf("%d files, %d of programs", len(files), programs)
	}
}

// What takes too much fails its schedule, and neither the disk nor the memory is full.
func TestCompilersAndProgramsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers")
	}
	for name, c := range map[string]struct{ compiler, says string }{
		"a compiler's file":   {`case "$*" in *unit*) exec dd if=/dev/zero of=big bs=1 count=1 seek=3000000000 ;; esac; exec "$CXX" "$@"`, "file size limit exceeded"},
		"a compiler's memory": {`case "$*" in *unit*) echo "error: limited to $(ulimit -v) KiB" >&2; exit 1 ;; esac; exec "$CXX" "$@"`, "limited to 8388608 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, script(t, c.compiler))
			p := copyProblem(t, 100)
			_, err := d.Compile(context.Background(), copyKernel(p, plain))
			if f := device.AsFailure(err); f == nil || f.Status != timing.CompileError || !strings.Contains(f.Reason, c.says) {
				t.Errorf("%v", err)
			}
		})
	}
	d := open(t, script(t, `case "$*" in *unit*) ;; *) exec "$CXX" "$@" ;; esac
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\nexec dd if=/dev/zero of=big bs=1 count=1 seek=3000000000\n' > "$2"
chmod 700 "$2"`))
	p := copyProblem(t, 100)
	_, err := check(t, d, p, copyKernel(p, plain), time.Minute)
	if f := device.AsFailure(err); f == nil || f.Status != timing.LaunchError || !strings.Contains(f.Reason, "file size limit exceeded") {
		t.Errorf("%v", err)
	}
}
