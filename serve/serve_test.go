package serve_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stenciltune/report"
	"stenciltune/serve"
)

// shelf is a source that a test changes.
type shelf struct {
	mu    sync.Mutex
	count int // changes
	tunes map[string]float64
	fault error
	whole int // times that one was asked for in whole
}

func (s *shelf) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	f()
}

func (s *shelf) Stamp() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strconv.Itoa(s.count), s.fault
}

func (s *shelf) brief(id string) report.Brief {
	return report.Brief{ID: id, Problem: "problem " + id, Seconds: s.tunes[id]}
}

func (s *shelf) List() (list []report.Brief, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.tunes)) {
		list = append(list, s.brief(id))
	}
	return list, nil
}

func (s *shelf) Tune(id string) (report.Tune, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole++
	return report.Tune{Brief: s.brief(id), Source: "kernel"}, true, nil
}

// open serves a source, to whom a guard admits.
func open(t *testing.T, from serve.Source, g serve.Guard) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(&serve.Server{Source: from, Tool: "tune test", Guard: g, Every: 5 * time.Millisecond})
	t.Cleanup(s.Close)
	return s
}

// ask is an answer's status, head and text.
func ask(t *testing.T, c *http.Client, method, url string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	a, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a, string(b)
}

func TestRoutes(t *testing.T) {
	s := open(t, &shelf{}, serve.Guard{})
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for _, c := range []struct {
		method, path string
		change       func(*http.Request)
		status       int
		want         string
	}{
		{"GET", "/", nil, 200, "connect-src &#39;self&#39;"},
		{"GET", "/?token=x", nil, 200, "EventSource"},
		{"HEAD", "/", nil, 200, ""},
		{"HEAD", "/events", nil, 200, ""},
		{"GET", "/store.db", nil, 404, ""},
		{"GET", "/events/", nil, 404, ""},
		{"GET", "/../../etc/passwd", nil, 404, ""},
		{"POST", "/", nil, 405, "read-only"},
		{"PUT", "/events", nil, 405, "read-only"},
		{"DELETE", "/", nil, 405, "read-only"},
		{"OPTIONS", "/", nil, 405, "read-only"},
		{"PATCH", "/none", nil, 405, "read-only"},
		{"GET", "/", host("localhost:80"), 200, ""},
		{"GET", "/", host("LOCALHOST"), 200, ""},
		{"GET", "/", host("[::1]:80"), 200, ""},
		{"GET", "/", host("127.8.9.1"), 200, ""},
		{"GET", "/", host("evil.example"), 421, "127.0.0.1"},
		{"GET", "/events", host("evil.example:80"), 421, "127.0.0.1"},
		{"GET", "/events", host("localhost.evil.example"), 421, "127.0.0.1"},
		{"GET", "/", host("127.0.0.1.evil.example"), 421, "127.0.0.1"},
		{"GET", "/", host("10.0.0.1"), 421, "127.0.0.1"},
		{"GET", "/", host("0.0.0.0"), 421, "127.0.0.1"},
	} {
		a, text := ask(t, s.Client(), c.method, s.URL+c.path, c.change)
		if a.StatusCode != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %s, want %d and %q in\n%.300s", c.method, c.path, a.Status, c.status, c.want, text)
		}
		if a.Header.Get("Access-Control-Allow-Origin") != "" || a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: header %v", c.method, c.path, a.Header)
		}
		if c.status == 405 && a.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s allows %q", c.method, a.Header.Get("Allow"))
		}
	}
}

const token = "0123456789abcdef"

func TestToken(t *testing.T) {
	s := open(t, &shelf{}, serve.Guard{Token: token})
	stay := *s.Client()
	stay.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, c := range []struct {
		name, path, bearer, cookie string
		status                     int
	}{
		{"none", "/", "", "", 401},
		{"none for events", "/events", "", "", 401},
		{"none for what is not there", "/none", "", "", 401},
		{"wrong", "/?token=0123456789abcdeF", "", "", 401},
		{"its beginning", "/?token=0123456789abcde", "", "", 401},
		{"empty", "/?token=", "", "", 401},
		{"right, elsewhere", "/events?token=" + token, "", "", 401},
		{"right", "/?token=" + token, "", "", 303},
		{"as bearer", "/", token, "", 200},
		{"wrong as bearer", "/", token + "0", "", 401},
		{"itself as cookie", "/", "", token, 401},
	} {
		a, text := ask(t, &stay, "GET", s.URL+c.path, func(r *http.Request) {
			if c.bearer != "" {
				r.Header.Set("Authorization", "Bearer "+c.bearer)
			}
			if c.cookie != "" {
				r.AddCookie(&http.Cookie{Name: "tune_serve", Value: c.cookie})
			}
		})
		if a.StatusCode != c.status || strings.Contains(text, "EventSource") != (c.status == 200) || strings.Contains(text, token) {
			t.Errorf("%s: %s\n%.200s", c.name, a.Status, text)
		}
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := *s.Client()
	browser.Jar = jar
	a, text := ask(t, &browser, "GET", s.URL+"/?token="+token, nil) // follows to the page
	if a.StatusCode != 200 || a.Request.URL.String() != s.URL+"/" || !strings.Contains(text, "EventSource") {
		t.Errorf("with the token: %s at %s", a.Status, a.Request.URL)
	}
	here, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if c := jar.Cookies(here); len(c) != 1 || strings.Contains(c[0].Value, token) {
		t.Errorf("cookies %v", c)
	}
	if a, _ := ask(t, &stay, "GET", s.URL, func(r *http.Request) {
		r.Host = "gpu.example"
		r.Header.Set("Authorization", "Bearer "+token)
	}); a.StatusCode != 200 {
		t.Errorf("by another name: %s", a.Status)
	}
}

func TestNewGuard(t *testing.T) {
	for _, c := range []struct {
		addr, token, want string
	}{
		{"127.0.0.1", "", ""}, {"127.3.0.1", "", ""}, {"::1", "", ""}, {"0.0.0.0", token, ""}, {"127.0.0.1", token, ""},
		{"0.0.0.0", "", "other machines"}, {"::", "", "other machines"}, {"", "", "other machines"}, {"192.168.0.1", "", "other machines"}, {"fe80::1", "", "other machines"},
		{"0.0.0.0", token[:15], "16 are needed"}, {"127.0.0.1", "x", "16 are needed"}, {"0.0.0.0", token + " x", "blanks"}, {"0.0.0.0", token + "é", "ASCII"},
	} {
		_, err := serve.NewGuard(&net.TCPAddr{IP: net.ParseIP(c.addr)}, c.token)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %q: %v, want %q", c.addr, c.token, err, c.want)
		}
	}
	if _, err := serve.NewGuard(&net.UnixAddr{}, ""); err == nil {
		t.Error("a socket that is none of the network's is admitted")
	}
}

// event is one of a stream.
type event struct {
	name string
	text string
	data struct {
		Order []string
		Tunes []report.Tune
	}
}

// follow opens a stream; next waits for its next event.
func follow(t *testing.T, s *httptest.Server, query string) (next func() event) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Body.Close() })
	if kind := a.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("%s, of type %q", a.Status, kind)
	}
	lines := bufio.NewReader(a.Body)
	return func() (e event) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			switch name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); name {
			case "event":
				e.name = text
			case "data":
				e.text = text
				if e.name == "tunes" {
					if err := json.Unmarshal([]byte(text), &e.data); err != nil {
						t.Fatal(err)
					}
				}
			case "":
				return e
			}
		}
	}
}

// TestEvents: everything at first, then what has changed alone, in whole if it was asked for.
func TestEvents(t *testing.T) {
	from := &shelf{tunes: map[string]float64{"a": 1, "b": 2}}
	s := open(t, from, serve.Guard{})
	next := follow(t, s, "?tune=b&tune=none&tune=a")
	briefs := follow(t, s, "")
	if e := next(); !slices.Equal(e.data.Order, []string{"a", "b"}) || len(e.data.Tunes) != 2 || e.data.Tunes[0].Source != "" || e.data.Tunes[1].Source != "kernel" {
		t.Errorf("at first: %s", e.text) // a is the third that was asked for in whole
	}
	if e := briefs(); len(e.data.Tunes) != 2 || strings.Contains(e.text, "kernel") {
		t.Errorf("in brief: %s", e.text)
	}
	from.change(func() {}) // nobody is told of nothing
	from.change(func() { from.tunes["b"] = 3 })
	if e := next(); e.data.Order != nil || len(e.data.Tunes) != 1 || e.data.Tunes[0].Seconds != 3 || e.data.Tunes[0].Source != "kernel" {
		t.Errorf("after a change: %s", e.text)
	}
	from.change(func() { delete(from.tunes, "a") })
	if e := next(); !slices.Equal(e.data.Order, []string{"b"}) || len(e.data.Tunes) != 0 {
		t.Errorf("after one is gone: %s", e.text)
	}
	from.change(func() { from.fault = errors.New("locked by </script>") })
	if e := next(); e.name != "fault" || !strings.Contains(e.text, "locked by") {
		t.Errorf("of a fault: %s %s", e.name, e.text)
	}
	from.change(func() { from.fault = nil })
	if e := next(); e.name != "tunes" || len(e.data.Tunes) != 0 {
		t.Errorf("when all is well again: %s %s", e.name, e.text)
	}
	from.change(func() { delete(from.tunes, "b") })
	if e := next(); e.data.Order == nil || len(e.data.Order) != 0 {
		t.Errorf("of no tune: %s", e.text)
	}
	if from.whole != 2 { // once, and once after its change
		t.Errorf("b was made in whole %d times", from.whole)
	}
}

// TestNoTuneIsToldAtFirst: a reader who comes again, of an empty store, learns that nothing is there any more.
func TestNoTuneIsToldAtFirst(t *testing.T) {
	s := open(t, &shelf{}, serve.Guard{})
	if e := follow(t, s, "")(); e.name != "tunes" || e.data.Order == nil {
		t.Errorf("at first: %s %s", e.name, e.text)
	}
}

// failing takes its time to say that it cannot be read.
type failing struct {
	shelf
	asked int
}

func (f *failing) Stamp() (string, error) {
	f.change(func() { f.asked++ })
	time.Sleep(50 * time.Millisecond)
	return "", errors.New("locked")
}

// TestTroubleIsAskedForRarely: what takes long to fail is left alone three quarters of the time, and told once.
func TestTroubleIsAskedForRarely(t *testing.T) {
	from := &failing{}
	s := open(t, from, serve.Guard{})
	first, second := follow(t, s, ""), follow(t, s, "")
	for _, next := range []func() event{first, second} {
		if e := next(); e.name != "fault" || e.text != `"locked"` {
			t.Errorf("%s %s", e.name, e.text)
		}
	}
	begin := time.Now()
	from.mu.Lock()
	before := from.asked
	from.mu.Unlock()
	time.Sleep(time.Second)
	from.mu.Lock()
	defer from.mu.Unlock()
	if n, most := from.asked-before, int(time.Since(begin)/(200*time.Millisecond))+1; n > most {
		t.Errorf("asked %d times in a second, want %d at most", n, most)
	}
}

// TestABodyIsNotWaitedFor: nobody holds a connection by what he does not send.
func TestABodyIsNotWaitedFor(t *testing.T) {
	s := open(t, &shelf{}, serve.Guard{Token: token})
	for _, head := range []string{"Content-Length: 10", "Transfer-Encoding: chunked"} {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n"+head+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 401") {
			t.Errorf("%s: %v, after %.80s", head, err, b)
		}
	}
}
