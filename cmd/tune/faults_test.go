package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
)

// onReplay are the arguments of a tune that needs no device.
var onReplay = []string{"--stencil", "jacobi3d", "--device", "replay:h200"}

// byShell is the program started by a line of a shell, in which "$@" is its command.
func byShell(t *testing.T, store, line string, args ...string) *clitest.Program {
	t.Helper()
	p := clitest.Command(t, store, args...)
	p.Cmd.Args = append([]string{"sh", "-c", line, "sh", p.Cmd.Path}, p.Cmd.Args[1:]...)
	var err error
	if p.Cmd.Path, err = exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	return p
}

func TestAFullDiskKeepsTheBestSoFar(t *testing.T) {
	store := clitest.StoreIn(t)
	p := byShell(t, store, `ulimit -f 320; exec "$@"`, append(onReplay, "--strategy", "model", "--budget", "200", "--stall", "200")...) // 160 KiB, for some 45 outcomes
	code := p.Run(t)
	c, err := cache.Decode(p.Stdout.Bytes())
	text := p.Stderr.String()
	if code != cli.StoreLocked || err != nil || c.Search.Complete || c.Search.Stop != "lost" || !strings.Contains(text, "file too large") || strings.Contains(text, "config: at") {
		t.Fatalf("exit %d, %v\n%s", code, err, text)
	}
	again := clitest.Command(t, store, append(onReplay, "-v")...) // with space again
	if code := again.Run(t); code != 0 || !strings.Contains(again.Stderr.String(), "(stored)") {
		t.Errorf("exit %d\n%s", code, &again.Stderr)
	}
	if code, _, stderr := tune(t, store, "store", "check"); code != 0 {
		t.Errorf("check: exit %d\n%s", code, stderr)
	}
}

func TestAClosedOrFullStdoutIsSaid(t *testing.T) {
	for line, want := range map[string]struct {
		code int
		say  string
	}{
		`exec "$@" >&-`:         {0, "standard output is closed"},
		`exec "$@" >/dev/full`:  {cli.Internal, "the config could not be printed"},
		`exec "$@" >/dev/null`:  {0, ""},
		`exec "$@" 2>&-`:        {0, ""},
		`exec "$@" 2>/dev/full`: {0, ""},
	} {
		p := byShell(t, clitest.StoreIn(t), line, append(onReplay, "--budget", "5")...)
		code := p.Run(t)
		if strings.Contains(line, " 2>") && !strings.Contains(p.Stdout.String(), `"schedule"`) {
			t.Errorf("%s: no config", line)
		}
		if text := p.Stderr.String(); code != want.code || !strings.Contains(text, want.say) || want.say == "" && strings.Contains(text, "standard output") {
			t.Errorf("%s: exit %d\n%s", line, code, text)
		}
	}
	// A file that is named gets the config even so, and is enough where stdout is closed.
	for line, want := range map[string]int{`exec "$@" >/dev/full`: cli.Internal, `exec "$@" >&-`: 0} {
		file := filepath.Join(t.TempDir(), "config.json")
		p := byShell(t, clitest.StoreIn(t), line, append(onReplay, "--budget", "5", "-o", file)...)
		code := p.Run(t)
		if text, err := os.ReadFile(file); code != want || err != nil || len(text) == 0 || strings.Contains(p.Stderr.String(), "is closed") {
			t.Errorf("%s: exit %d, %v, %d bytes\n%s", line, code, err, len(text), &p.Stderr)
		}
	}
	// Whatever a command prints.
	for _, args := range [][]string{{"store", "list"}, {"stencils"}, {"schema"}, {"verify", "--help"}, {"completion", "bash"}, {"--version"}} {
		p := byShell(t, clitest.StoreIn(t), `exec "$@" >&-`, args...)
		if code := p.Run(t); code != 0 || strings.Count(p.Stderr.String(), "standard output is closed") != 1 {
			t.Errorf("%v, closed: exit %d\n%s", args, code, &p.Stderr)
		}
		p = byShell(t, clitest.StoreIn(t), `exec "$@" >/dev/full`, args...)
		if code := p.Run(t); code != cli.Internal || strings.Count(p.Stderr.String(), "no space left") != 1 {
			t.Errorf("%v, full: exit %d\n%s", args, code, &p.Stderr)
		}
	}
}

// What a search has found is not to be lost for a file that could never be written.
func TestAFileThatCannotBeWrittenIsSaidBeforeTheSearch(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("elsewhere", link); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(dir, "missing", "file"), dir, link, "/dev/full"} {
		for _, flag := range []string{"--output", "--record"} {
			p := clitest.Command(t, clitest.StoreIn(t), append(onReplay, "--budget", "5", flag, file)...)
			code := p.Run(t)
			if text := p.Stderr.String(); code != cli.Internal || p.Stdout.Len() > 0 || !strings.Contains(text, file) || strings.Contains(text, "baseline") {
				t.Errorf("%s %s: exit %d, %d bytes\n%s", flag, file, code, p.Stdout.Len(), text)
			}
		}
	}
}

func TestExitCodesOfSignals(t *testing.T) {
	_, args := small(t)
	if *flagDevice != "host" {
		t.Skip("shown on the host")
	}
	for signal, want := range map[syscall.Signal]int{syscall.SIGHUP: cli.HungUp, syscall.SIGINT: cli.Interrupted, syscall.SIGTERM: cli.Terminated} {
		p := clitest.Command(t, clitest.StoreIn(t), append(args, "--budget", "5000", "--time-limit", "10m")...)
		if err := p.Cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(700 * time.Millisecond)
		p.Cmd.Process.Signal(signal)
		begin := time.Now()
		p.Cmd.Wait()
		if code := p.Cmd.ProcessState.ExitCode(); code != want || time.Since(begin) > 10*time.Second {
			t.Errorf("%v: exit %d after %v, want %d\n%s", signal, code, time.Since(begin), want, &p.Stderr)
		}
	}
}

func TestAStoreWithoutAPlaceIsBadInput(t *testing.T) {
	for _, env := range [][]string{
		{"TUNE_STORE=relative.db"}, {"TUNE_STORE=", "XDG_DATA_HOME=relative"}, {"TUNE_STORE=", "XDG_DATA_HOME=", "HOME="},
		{"TUNE_STORE=oracle://u@h/d"}, {"TUNE_STORE=mysql://u:secret@h/"}, {"TUNE_STORE=mysql://u:secret@h/d?tls=x"}, {"TUNE_STORE=postgres://u:secret@127.0.0.1:99999/d"}, {"TUNE_STORE=postgres://[::1"}, {"TUNE_STORE=postgres://u@h/d?sslmode=x"},
	} {
		p := clitest.Command(t, "", "store", "list")
		p.Cmd.Env = append(p.Cmd.Env, env...)
		if code := p.Run(t); code != cli.Usage || !strings.Contains(p.Stderr.String(), "store") || strings.Contains(p.Stderr.String(), "secret") {
			t.Errorf("%v: exit %d\n%s", env, code, &p.Stderr)
		}
	}
}

func TestMeasureSaysWhatIsWrongInWords(t *testing.T) {
	_, args := small(t)
	if *flagDevice != "host" {
		t.Skip("shown on the host")
	}
	const schedule = "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--strategy" || a == "model" })
	p := clitest.Command(t, clitest.StoreIn(t), append([]string{"measure", "--schedule", schedule}, args...)...)
	p.Cmd.Env = append(p.Cmd.Env, "TUNE_TEST_FAULT=nan:"+schedule)
	code := p.Run(t)
	if text := p.Stderr.String(); code != cli.NoSchedule || !strings.Contains(text, "1 of 1 schedules failed") || strings.Contains(text, "map[") {
		t.Errorf("exit %d\n%s", code, text)
	}
}

// A host that cannot compile is a device that is missing, in one line.
func TestAHostThatCannotCompileIsNone(t *testing.T) {
	dir := t.TempDir()
	noisy := filepath.Join(dir, "noisy")
	if err := os.WriteFile(noisy, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo 'c++ 1' && exit\nhead -c 50000000 /dev/urandom >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for env, words := range map[string]string{
		"TMPDIR=" + filepath.Join(dir, "none"): "folder for compiled kernels",
		"TMPDIR=" + noisy:                      "folder for compiled kernels",
		"TMPDIR=/proc/self":                    "folder for compiled kernels", // nobody may write there
		"CXX=/nonexistent":                     "no C++ compiler",
		"CXX=/bin/false":                       "no C++ compiler",
		"CXX=" + noisy:                         "does not compile",
	} {
		p := clitest.Command(t, clitest.StoreIn(t), "--stencil", "jacobi2d", "--size", "65x33", "--device", "host", "-q")
		p.Cmd.Env = append(p.Cmd.Env, env)
		if code := p.Run(t); code != cli.NoDevice || !strings.Contains(p.Stderr.String(), words) || p.Stderr.Len() > 1<<16 {
			t.Errorf("%s: exit %d\n%.1000s", env, code, &p.Stderr)
		}
	}
}

// A folder without room for what is compiled is the device's fault and no schedule's, and the best so far is kept.
func TestAFullFolderEndsTheTune(t *testing.T) {
	if *flagDevice != "host" {
		t.Skip("compiled kernels lie in no folder there")
	}
	tmp := t.TempDir()
	mount := func(size string) []string { // a file system of this process alone
		return []string{"-Urm", "sh", "-c", "mount -t tmpfs -o size=" + size + ` none "$0" && exec "$@"`, tmp}
	}
	if out, err := exec.Command("unshare", append(mount("8k"), "true")...).CombinedOutput(); err != nil {
		t.Skipf("no small file system: %v: %s", err, out)
	}
	for _, size := range []string{"8k", "300k"} { // none for the emulation; for it and one kernel
		store := clitest.StoreIn(t)
		p := clitest.Command(t, store, "--stencil", "jacobi2d", "--size", "65x33", "--device", "host", "--budget", "8", "-v")
		p.Cmd.Args = slices.Concat([]string{"unshare"}, mount(size), p.Cmd.Args)
		p.Cmd.Env = append(p.Cmd.Env, "TMPDIR="+tmp)
		var err error
		if p.Cmd.Path, err = exec.LookPath("unshare"); err != nil {
			t.Fatal(err)
		}
		code := p.Run(t)
		if text := p.Stderr.String(); code != cli.NoDevice || !strings.Contains(text, "make room in "+tmp) || strings.Contains(text, "_error") {
			t.Errorf("%s: exit %d\n%s", size, code, text)
		}
	}
}

// Nobody writes into these pipes.
func TestAPipeWithoutAWriterIsNoConfig(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{
		{"emit", "--format", "header", "--config", pipe}, {"--stencil", "jacobi3d", "--device", "replay:" + pipe}, {"--stencil", pipe},
		{"store", "list", "--store", pipe}, {"store", "merge", pipe}, {"store", "import", pipe},
	} {
		p := clitest.Command(t, clitest.StoreIn(t), args...)
		stop := time.AfterFunc(20*time.Second, func() { p.Cmd.Process.Kill() })
		if code := p.Run(t); code != cli.Usage && code != cli.StoreCorrupt || !strings.Contains(p.Stderr.String(), pipe) {
			t.Errorf("%v: exit %d\n%s", args, code, &p.Stderr)
		}
		stop.Stop()
	}
}

// Data are the same whatever a user's language, clock and terminal are.
func TestDataAreTheSameEverywhere(t *testing.T) {
	store := replayed(t)
	for _, args := range [][]string{
		{"best", "--stencil", "jacobi3d", "--device", "h200"}, {"store", "export", "--journal"},
		{"emit", "--format", "header", "--stencil", "jacobi3d", "--device", "h200"}, {"plot", "finals", "--format", "csv"},
	} {
		var texts [2]string
		for i, env := range [][]string{
			{"TZ=UTC", "LC_ALL=C", "TERM=xterm"},
			{"TZ=Asia/Kathmandu", "LC_ALL=tr_TR.UTF-8", "LANG=ar_EG.UTF-8", "TERM=dumb", "NO_COLOR=1", "COLUMNS=20"},
		} {
			p := clitest.Command(t, store, args...)
			p.Cmd.Env = append(p.Cmd.Env, env...)
			if code := p.Run(t); code != cli.OK {
				t.Fatalf("%v: exit %d\n%s", args, code, &p.Stderr)
			}
			texts[i] = p.Stdout.String()
		}
		if texts[0] == "" || texts[0] != texts[1] {
			t.Errorf("%v:\n%s\nand\n%s", args, texts[0], texts[1])
		}
	}
}

// A config from elsewhere has names that a terminal would obey.
func TestNamesAreCleanedWhereverTheyArePrinted(t *testing.T) {
	store := replayed(t)
	_, text, _ := tune(t, store, "best", "--stencil", "jacobi3d", "--device", "h200")
	c, err := cache.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c.Device.Name = "GPU \u009b2J\u202e\u2066 9000"
	bad, err := cache.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(file, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	compiler := filepath.Join(t.TempDir(), "c++")
	if err := os.WriteFile(compiler, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo 'c++ 1' && exit\nprintf 'error: \\033[2J\\302\\2332J\\342\\200\\256' >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CXX", compiler)
	for _, args := range [][]string{
		{"store", "import", file}, {"store", "list"}, {"store", "list", "--json"}, {"store", "show"}, {"store", "export"}, {"store", "diff", replayed(t)},
		{"store", "prune", "--all", "--dry-run"}, {"best", "--stencil", "jacobi3d", "--device", "9000"}, {"best", "--stencil", "jacobi3d", "--device", "none"},
		{"emit", "--format", "header", "--config", file}, {"--stencil", "\x1b[2J"}, {"--stencil", "jacobi2d", "--device", "host", "-v"},
	} {
		code, out, stderr := tune(t, store, args...)
		if i := strings.IndexAny(out+stderr, "\x1b\u009b\u202e\u2066"); i >= 0 || len(out+stderr) == 0 {
			t.Errorf("%q: exit %d\n%q", args, code, out+stderr)
		}
	}
	// Characters that come in parts are whole.
	var b bytes.Buffer
	p := byShell(t, store, `exec "$@"`, "stencils")
	p.Cmd.Stdout = &b
	if code := p.Run(t); code != 0 || strings.Contains(b.String(), "?\ufffd") {
		t.Error(fmt.Sprint(code), b.String())
	}
}

var flagFaults = flag.Bool("faults", false, "let each operation on a file fail, by either error, not every seventeenth time")

// Each operation on a file of a tune fails once, from the first to the last: whatever was said to be measured is stored, and the
// next run goes on.
func TestAnyFileOperationMayFail(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	first, step := 14, 17 // so that the recording's first open is one of them
	if *flagFaults {
		first, step = 0, 1
	}
	for i := first; ; i += step {
		dir := t.TempDir()
		store, config, record := filepath.Join(dir, "new", "store.db"), filepath.Join(dir, "config"), filepath.Join(dir, "record")
		args := append(slices.Clone(onReplay), "--budget", "5", "--stall", "5", "-v", "-o", config, "--record", record)
		p := clitest.Command(t, store, args...)
		n, errno := 1+i/2, []syscall.Errno{syscall.EIO, syscall.ENOSPC}[i%2]
		code, what := p.Fail(t, dir, n, errno)
		text := p.Stderr.String()
		if what == "" {
			if code != cli.OK || n < 90 {
				t.Errorf("exit %d with fewer than %d operations\n%s", code, n, text)
			}
			break
		}
		want, file := cli.StoreLocked, store
		if !strings.Contains(what, " new") {
			want, file = cli.Internal, dir
		}
		if code != want || strings.Count(text, errno.Error()) != 1 || !strings.Contains(text, file) {
			t.Errorf("%s: exit %d, want %d and one line that names %s\n%s", what, code, want, file, text)
		}
		again := clitest.Command(t, store, args...)
		if code := again.Run(t); code != cli.OK {
			t.Errorf("%s, then exit %d\n%s", what, code, &again.Stderr)
		}
		for _, m := range measuredLine.FindAllStringSubmatch(text, -1) {
			if line := regexp.MustCompile(regexp.QuoteMeta(m[1]) + ".*\\(stored\\)"); !naive(m[1]) && !line.MatchString(again.Stderr.String()) {
				t.Errorf("%s: %s is lost\n%s", what, m[1], &again.Stderr)
			}
		}
		if _, err := cache.ReadConfig(config); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for _, names := range []string{filepath.Join(dir, ".*"), filepath.Join(dir, "new", ".*")} {
			if left, _ := filepath.Glob(names); len(left) > 0 {
				t.Errorf("%s leaves %q", what, left)
			}
		}
	}
}
