// Package chromium lets tests look at pages in a real browser: it starts Debian's chromium
// without a window and speaks the Chrome DevTools protocol with it through a pipe
// (https://chromedevtools.github.io/devtools-protocol).
//
// Positions and sizes are CSS pixels.
package chromium

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for the browser, which may be one of many on a machine.
const patience = 3 * time.Minute

// Tab is a page in a browser of its own.
type Tab struct {
	t       testing.TB
	to      *os.File
	session string
	next    int

	mu      sync.Mutex
	answers map[int]chan answer
	faults  []string
	fetched []string
	loaded  chan struct{}
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// Open starts a browser with one empty tab; it ends with the test. It is $TUNE_CHROMIUM, by
// default chromium; without it the test is skipped.
func Open(t testing.TB) *Tab {
	t.Helper()
	program, err := exec.LookPath(cmp.Or(os.Getenv("TUNE_CHROMIUM"), "chromium"))
	if err != nil {
		t.Skip("no chromium here: the page was not looked at in a browser (apt-get install chromium)")
	}
	ours, theirs, err := os.Pipe() // chromium reads theirs
	check(t, err)
	back, forth, err := os.Pipe() // and writes forth
	check(t, err)
	c := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe")
	c.ExtraFiles = []*os.File{ours, forth}
	check(t, c.Start())
	ours.Close()
	forth.Close()
	b := &Tab{t: t, to: theirs, answers: map[int]chan answer{}, loaded: make(chan struct{}, 16)}
	go b.listen(back)
	t.Cleanup(func() {
		b.send("Browser.close", nil)
		done := make(chan struct{})
		go func() { _ = c.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(patience):
			_ = c.Process.Kill()
			<-done
		}
		theirs.Close()
		back.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// listen hands answers to those who wait for them, and notes what goes wrong.
func (b *Tab) listen(from *os.File) {
	r := bufio.NewReader(from)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
			answer
		}
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if c := b.answers[m.ID]; m.ID != 0 && c != nil {
			delete(b.answers, m.ID)
			c <- m.answer
		}
		b.note(m.Method, m.Params)
		b.mu.Unlock()
	}
}

// note looks at an event.
func (b *Tab) note(method string, params json.RawMessage) {
	switch method {
	case "Page.loadEventFired":
		select {
		case b.loaded <- struct{}{}:
		default: // nobody waits
		}
	case "Runtime.exceptionThrown", "Log.entryAdded":
		b.faults = append(b.faults, string(params))
	case "Runtime.consoleAPICalled":
		var p struct{ Type string }
		if json.Unmarshal(params, &p) == nil && (p.Type == "error" || p.Type == "warning") {
			b.faults = append(b.faults, string(params))
		}
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		if json.Unmarshal(params, &p) == nil && !strings.HasPrefix(p.Request.URL, "data:") {
			b.fetched = append(b.fetched, p.Request.URL)
		}
	}
}

// send sends a command; what it answers comes through the channel.
func (b *Tab) send(method string, params any) chan answer {
	c := make(chan answer, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	b.answers[b.next] = c
	m := map[string]any{"id": b.next, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" && !strings.HasPrefix(method, "Browser.") {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	if err != nil {
		c <- answer{Error: &struct{ Message string }{err.Error()}}
	}
	return c
}

// call sends a command and waits for its result.
func (b *Tab) call(method string, params, result any) {
	b.t.Helper()
	select {
	case a := <-b.send(method, params):
		if a.Error != nil {
			b.t.Fatalf("chromium: %s: %s", method, a.Error.Message)
		}
		if result != nil {
			check(b.t, json.Unmarshal(a.Result, result))
		}
	case <-time.After(patience):
		b.t.Fatalf("chromium: %s: no answer within %v", method, patience)
	}
}

// View sets the window's size and whether the user wants dark pages.
func (b *Tab) View(width, height int, dark bool) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Load goes to an address and waits until all of the page is there; how long that took.
func (b *Tab) Load(url string) time.Duration {
	b.t.Helper()
	begin := time.Now()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	select {
	case <-b.loaded:
	case <-time.After(patience):
		b.t.Fatalf("chromium: %s did not load within %v", url, patience)
	}
	return time.Since(begin)
}

// Eval runs an expression of JavaScript, awaits it and stores its value.
func (b *Tab) Eval(expression string, value any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("chromium: %s: %s", expression, r.ExceptionDetails)
	}
	if value != nil {
		check(b.t, json.Unmarshal(r.Result.Value, value))
	}
}

// Until waits until an expression is true.
func (b *Tab) Until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		var ok bool
		if b.Eval("!!("+expression+")", &ok); ok {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("chromium: %s is not so within %v", expression, patience)
		}
	}
}

// Fits waits until nothing is wider than the window: pages draw charts anew a while after it has changed.
func (b *Tab) Fits(what string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		var over int
		if b.Eval("document.documentElement.scrollWidth - document.documentElement.clientWidth", &over); over <= 0 {
			return
		}
		if time.Now().After(end) {
			b.t.Errorf("%s: %d pixels stand beyond the window", what, over)
			return
		}
	}
}

// Key presses a key, "Tab" or "ArrowUp", on what has the focus.
func (b *Tab) Key(key string, shift bool) {
	b.t.Helper()
	code := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[key]
	modifiers := 0
	if shift {
		modifiers = 8
	}
	down, text := "rawKeyDown", ""
	if key == "Enter" { // a button is pressed by the character
		down, text = "keyDown", "\r"
	}
	for _, kind := range []string{down, "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code, "modifiers": modifiers}, nil)
	}
}

// Drag presses the mouse at one place and lets it go at another.
func (b *Tab) Drag(fromX, fromY, toX, toY float64) {
	b.t.Helper()
	mouse := func(kind string, x, y float64) {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}, nil)
	}
	mouse("mouseMoved", fromX, fromY)
	mouse("mousePressed", fromX, fromY)
	const moves = 8
	for i := range moves {
		s := float64(i+1) / moves
		mouse("mouseMoved", fromX+s*(toX-fromX), fromY+s*(toY-fromY))
	}
	mouse("mouseReleased", toX, toY)
}

// Shoot writes a picture (PNG) of the page, whole or of the window, to a file.
func (b *Tab) Shoot(file string, whole bool) {
	b.t.Helper()
	var r struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": whole}, &r)
	data, err := base64.StdEncoding.DecodeString(r.Data)
	check(b.t, err)
	check(b.t, os.WriteFile(file, data, 0o644))
}

// Print is the page as a printer gets it (PDF).
func (b *Tab) Print() []byte {
	b.t.Helper()
	var r struct{ Data string }
	b.call("Page.printToPDF", map[string]any{"printBackground": true}, &r)
	data, err := base64.StdEncoding.DecodeString(r.Data)
	check(b.t, err)
	return data
}

// Clean fails the test if the page complained, or asked for anything but what lies below one of
// the addresses given.
func (b *Tab) Clean(addresses ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.t.Errorf("the page complains: %.600s", f)
	}
	for _, url := range b.fetched {
		if !strings.HasPrefix(url, "about:") && !slices.ContainsFunc(addresses, func(a string) bool { return strings.HasPrefix(url, a) }) {
			b.t.Errorf("the page asked for %.200s", url)
		}
	}
}
