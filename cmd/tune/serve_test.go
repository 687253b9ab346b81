package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/internal/chromium"
	"stenciltune/report"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

var shot = flag.String("shot", "", "write a picture of the live page into this `file` (.png)")

// start starts a program, which is killed at the test's end if it still runs.
func start(t *testing.T, p *clitest.Program) {
	t.Helper()
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Cmd.Process.Kill() })
}

// serving is tune serve on a store, with more of an environment, and its page's address.
func serving(t *testing.T, store, env string, args ...string) (*clitest.Program, string) {
	t.Helper()
	p := clitest.Command(t, store, append([]string{"serve"}, args...)...)
	p.Cmd.Env, p.Cmd.Stdout = append(p.Cmd.Env, env), nil
	out, err := p.Cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, p)
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, p.Stderr.String())
	}
	return p, strings.TrimSpace(address)
}

// long is a tune on a recording that takes longer than any of these tests.
func long(t *testing.T, store string) *clitest.Program {
	t.Helper()
	p := clitest.Command(t, store, "--stencil", "jacobi3d", "--device", "replay:h200", "--exhaustive")
	start(t, p)
	return p
}

// end ends a program by a signal and tells its exit code and how long that took.
func end(t *testing.T, p *clitest.Program, by syscall.Signal) (int, time.Duration) {
	t.Helper()
	begin := time.Now()
	if err := p.Cmd.Process.Signal(by); err != nil {
		t.Fatal(err)
	}
	_ = p.Cmd.Wait() // the code tells
	return p.Cmd.ProcessState.ExitCode(), time.Since(begin)
}

// TestServeShowsWhatATuneMeasures looks on while another process tunes: its evaluations arrive,
// and what became of it. A signal ends the server with the stream open.
func TestServeShowsWhatATuneMeasures(t *testing.T) {
	store := clitest.StoreIn(t)
	server, address := serving(t, store, "")
	tuning := long(t, store)
	deadline := time.AfterFunc(2*time.Minute, func() { server.Cmd.Process.Kill() }) // so that no read waits for ever
	defer deadline.Stop()
	id, counts := "", map[int]bool{}
	follow := func(query string, done func(report.Tune) bool) {
		a, err := http.Get(address + "events" + query)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Body.Close() })
		for lines := bufio.NewReader(a.Body); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatal(err, server.Stderr.String())
			}
			var u struct{ Tunes []report.Tune }
			data, ok := bytes.CutPrefix(line, []byte("data: "))
			if !ok {
				continue
			}
			if err := json.Unmarshal(data, &u); err != nil {
				t.Fatal(err)
			}
			for _, x := range u.Tunes {
				if done(x) {
					return
				}
			}
		}
	}
	follow("", func(x report.Tune) bool {
		id = x.ID
		return x.Phase == "search" && x.Seconds > 0
	})
	follow("?tune="+id, func(x report.Tune) bool {
		if n := len(x.Search.Point); n > 0 {
			counts[n] = true
			if x.Origin != report.Running || x.Problem != "jacobi3d/f32/512x512x512" || x.Device.Name != "NVIDIA H200" || x.Predicted < 0 || x.Source == "" || x.Points.Predicted[0] <= 0 {
				t.Errorf("%s of %s on %s, %s", x.Origin, x.Problem, x.Device.Name, x.Notes)
			}
		}
		return len(counts) >= 3
	})
	if code, _ := end(t, tuning, syscall.SIGINT); code != cli.Interrupted {
		t.Errorf("the tune ended with %d\n%s", code, &tuning.Stderr)
	}
	follow("?tune="+id, func(x report.Tune) bool { return x.Phase == "" && x.Origin == report.Stored && len(x.Search.Point) > 0 })
	if code, took := end(t, server, syscall.SIGTERM); code != cli.OK || took > 10*time.Second {
		t.Errorf("the server ended with %d after %v\n%s", code, took, &server.Stderr)
	}
}

// TestServeRefuses what would show tunes to others, and what it cannot use.
func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--listen :0", cli.Usage, "--token FILE"},
		{"--listen 0.0.0.0:0", cli.Usage, "--token FILE"},
		{"--listen [::]:0", cli.Usage, "ssh -L"},
		{"--listen :0 --token " + file(t, "short", "secret\n"), cli.Usage, "16 are needed"},
		{"--listen :0 --token " + file(t, "empty", "\n"), cli.Usage, "openssl rand"},
		{"--token " + filepath.Join(dir, "none"), cli.Usage, "no such file"},
		{"--token " + dir, cli.Usage, "neither a file nor a pipe"},
		{"--listen 127.0.0.1", cli.Usage, "host:port"},
		{"--listen 127.0.0.1:99999", cli.Usage, "host:port"},
		{"--device replay:h200", cli.Usage, "tune report --device replay:h200"},
		{"--store " + dir, cli.StoreCorrupt, "a folder"},
		{"--store " + file(t, "text", strings.Repeat("this is no store", 1000)), cli.StoreCorrupt, "text"},
		{"--stencil nonesuch", cli.Usage, "nonesuch"},
		{"extra", cli.Usage, ""},
	} {
		p := clitest.Command(t, clitest.StoreIn(t), append([]string{"serve"}, strings.Fields(c.args)...)...)
		timer := time.AfterFunc(time.Minute, func() { p.Cmd.Process.Kill() })
		if code := p.Run(t); code != c.code || !strings.Contains(p.Stderr.String(), c.want) || p.Stdout.Len() > 0 {
			t.Errorf("%s: exit %d, want %d and %q\n%s%s", c.args, code, c.code, c.want, &p.Stdout, &p.Stderr)
		}
		timer.Stop()
	}
}

// TestServeBeyondLoopback is seen by who has the token.
func TestServeBeyondLoopback(t *testing.T) {
	const token = "0123456789abcdef"
	p, address := serving(t, clitest.StoreIn(t), tokenVariable+"="+token, "--listen", ":0")
	_, port, _ := strings.Cut(address, "://")
	port = port[strings.LastIndex(port, ":"):]
	for query, want := range map[string]int{"": http.StatusUnauthorized, "?token=" + token: http.StatusSeeOther} {
		c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		a, err := c.Get("http://127.0.0.1" + port + query)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, a.Body)
		a.Body.Close()
		if a.StatusCode != want {
			t.Errorf("with %q: %s", query, a.Status)
		}
	}
	if code, _ := end(t, p, syscall.SIGINT); code != cli.OK || strings.Contains(p.Stderr.String(), token) {
		t.Errorf("exit %d\n%s", code, &p.Stderr)
	}
}

// TestAKilledTuneIsNotShownAsRunning: what it told last is old.
func TestAKilledTuneIsNotShownAsRunning(t *testing.T) {
	told := &cache.Running{Stencil: cache.StencilInfo{Name: "mine", DType: "float32"}, Problem: cache.ProblemInfo{Size: []int{8, 8}}, Phase: "search"}
	for age, alive := range map[time.Duration]bool{cache.DefaultLease / 2: true, 2 * cache.DefaultLease: false} {
		told.At, told.Age = time.Now().Add(-age), age
		x := stored{key: cache.Key{StencilHash: "0123456789", DType: string(stencil.Float32), Size: "8x8", Kind: "cuda", DeviceName: "GPU"}, running: told, config: &cache.Config{}}
		r := x.run()
		if (r.Phase == "search") != alive || (r.Origin == report.Running) != alive || (r.Config == nil) != alive || strings.Contains(strings.Join(r.Notes, ""), "killed") == alive {
			t.Errorf("told %v ago: %s %q, %v", age, r.Origin, r.Phase, r.Notes)
		}
		if r.Name != "mine/f32/8x8" || r.Problem.Size.Cells() != 64 { // its stencil is in no catalogue
			t.Errorf("%s of %v cells", r.Name, r.Problem.Size)
		}
	}
}

// TestAnOwnStencilIsKnownByItsFile: --stencil names it, and with it predictions come.
func TestAnOwnStencilIsKnownByItsFile(t *testing.T) {
	path := file(t, "mine.sl", "NumDimensions 2\nStencilSize (1, 1)\nDataType float\nBoundary clamp\nCellValue { return 0.5 * (get(0, 0) + get(1, 0)); }\n")
	st, err := tuner.LoadStencil(path)
	if err != nil {
		t.Fatal(err)
	}
	x := stored{key: cache.Key{StencilHash: st.Hash, DType: string(stencil.Float32), Size: "8x8", Kind: "cuda", DeviceName: "GPU"},
		config: &cache.Config{Stencil: cache.StencilInfo{Name: "mine", Hash: st.Hash, DType: "float32", Dims: 2}, Problem: cache.ProblemInfo{Size: []int{8, 8}}}}
	for _, names := range [][]string{nil, {"jacobi2d", path}, {path, "jacobi2d"}} {
		r := x.run(names...)
		if known := r.Problem.Stencil != nil; known != (names != nil) || known != (len(r.Notes) == 0) || r.Problem.Size.Cells() != 64 {
			t.Errorf("with %q: of %v cells, %q", names, r.Problem.Size, r.Notes)
		}
	}
}

// TestServeInABrowser: the page follows a tune that begins after it was loaded, keeps what the
// reader chose meanwhile, and shows two tunes side by side.
func TestServeInABrowser(t *testing.T) {
	b := chromium.Open(t)
	store := clitest.StoreIn(t)
	server, address := serving(t, store, "")
	b.View(1280, 900, false)
	b.Load(address)
	b.Until("document.querySelector('main').textContent.includes('No tune yet')")
	tuning := long(t, store)
	const evaluated = "+([...document.querySelectorAll('.figures div')].find((d) => d.textContent.includes('evaluated so far')) || {textContent: 'NaN'}).textContent.match(/[0-9]*/)[0]"
	b.Until("document.querySelector('main').textContent.includes('Under way: search') && " + evaluated + " > 0")
	b.Eval("window.was = "+evaluated+", window.chart = document.querySelector('[aria-label^=\"Best rate\"]'), document.querySelector('input[value=seconds]').click(), document.querySelector('input[value=seconds]').focus()", nil)
	b.Until(evaluated + " > window.was + 5")
	var kept bool
	b.Eval("document.activeElement.value === 'seconds' && document.activeElement.checked && window.chart === document.querySelector('[aria-label^=\"Best rate\"]') && !!echarts.getInstanceByDom(window.chart)", &kept)
	if !kept {
		t.Error("an update takes away what was chosen, the focus or the chart")
	}
	if *shot != "" {
		b.Shoot(*shot, false)
	}
	end(t, tuning, syscall.SIGINT)
	b.Until("!document.querySelector('main').textContent.includes('Under way') && document.querySelector('main').textContent.includes('From the store')")
	if code, _, stderr := tune(t, store, "--stencil", "jacobi2d", "--device", "replay:h200", "--budget", "12"); code != cli.OK {
		t.Fatal(stderr)
	}
	b.Until("document.querySelectorAll('section.tunes tbody tr').length === 2")
	b.Eval("(() => { const s = document.querySelectorAll('.bar select')[1]; s.selectedIndex = [...s.options].findIndex((o) => o.text.startsWith('jacobi3d')); s.dispatchEvent(new Event('change')); })()", nil)
	b.Until("document.querySelectorAll('.beside section[aria-label=Roofline]').length === 2")
	b.View(390, 900, true)
	b.Fits("two tunes side by side")
	b.Clean(address)
	if code, _ := end(t, server, syscall.SIGINT); code != cli.OK {
		t.Errorf("the server ended with %d", code)
	}
}
