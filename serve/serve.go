// Package serve shows tunes in a browser while they run: a page, and a stream of events that
// brings what has changed (https://html.spec.whatwg.org/multipage/server-sent-events.html).
//
// It only reads: it answers GET and HEAD, and nothing that it answers changes anything. Where
// the tunes come from is its user's business. It draws nothing: the page is package report's.
package serve

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"sync"
	"time"

	"stenciltune/report"
)

// Source is where tunes come from. Its methods are not called side by side.
type Source interface {
	// Stamp is a text that differs after every change. It is asked for often, and must be cheap.
	Stamp() (string, error)
	// List is all tunes in brief, in the order in which they are to be listed.
	List() ([]report.Brief, error)
	// Tune is one in whole, by its ID; false if it is not there any more.
	Tune(id string) (report.Tune, bool, error)
}

// Server answers for the page and its events.
type Server struct {
	Source Source
	Tool   string        // what made the page: "tune 0.1.0 REVISION"
	Guard  Guard         // who may see it
	Every  time.Duration // between two looks at the source, while somebody looks on

	mu      sync.Mutex
	stamp   string
	seen    time.Time // when the list was made; zero = never
	next    time.Time // the source is left alone until then
	fault   error     // of the last look
	running bool      // some tune
	order   []string  // IDs of the list
	briefs  map[string][]byte
	whole   map[string]whole
}

// whole is a tune as JSON, and its brief, which differs when the tune does.
type whole struct{ brief, tune []byte }

// live is the script that brings the events to the page.
//
//go:embed live.js
var live string

// ServeHTTP answers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "frame-ancestors 'none'") // the page has more of its own
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	if r.ContentLength != 0 { // nothing here takes a body, and who sends none of it must not be waited for
		_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // a connection that knows no deadlines waits
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this page is read-only: it answers GET and HEAD alone", http.StatusMethodNotAllowed)
	case !s.Guard.admit(w, r):
	case r.URL.Path == "/":
		s.page(w)
	case r.URL.Path == "/events":
		s.events(w, r)
	default:
		http.NotFound(w, r)
	}
}

// page is the page without tunes, which come as events.
func (s *Server) page(w http.ResponseWriter) {
	var b bytes.Buffer
	if err := report.Page(&b, "Tunes", report.Data{Tool: s.Tool, Time: time.Now().UTC(), Tunes: []report.Tune{}}, live); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // who went away misses nothing
}

// update is an event's data: what is new or has changed since the one before.
type update struct {
	Tool  string            `json:"tool"`
	Time  time.Time         `json:"time"`
	Order []string          `json:"order"` // IDs of all tunes; null = as before
	Tunes []json.RawMessage `json:"tunes"` // in brief, or in whole those that were asked for
}

// stale is how long a list with a running tune counts: one that is killed changes nothing.
const stale = 5 * time.Second

// look brings the list up to date.
func (s *Server) look() error {
	now := time.Now()
	stamp, err := s.Source.Stamp()
	if err != nil || !s.seen.IsZero() && stamp == s.stamp && !(s.running && now.Sub(s.seen) > stale) {
		return err
	}
	list, err := s.Source.List()
	if err != nil {
		return err
	}
	order, briefs, running := []string{}, map[string][]byte{}, false
	for _, b := range list {
		if briefs[b.ID], err = json.Marshal(b); err != nil {
			return err
		}
		order = append(order, b.ID)
		running = running || b.Phase != ""
	}
	s.stamp, s.seen, s.order, s.briefs, s.running = stamp, now, order, briefs, running
	for id := range s.whole {
		if s.briefs[id] == nil {
			delete(s.whole, id)
		}
	}
	return nil
}

// tune is one in whole.
func (s *Server) tune(id string) ([]byte, error) {
	brief := s.briefs[id]
	if had, ok := s.whole[id]; ok && bytes.Equal(had.brief, brief) {
		return had.tune, nil
	}
	t, ok, err := s.Source.Tune(id)
	if err != nil || !ok {
		return brief, err
	}
	b, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	if s.whole == nil {
		s.whole = map[string]whole{}
	}
	s.whole[id] = whole{brief, b}
	return b, nil
}

// current is the IDs of all tunes, and their JSON: in whole of those that are asked for.
func (s *Server) current(asked []string) ([]string, map[string][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if begin := time.Now(); begin.After(s.next) {
		// What takes long, or long to fail, is asked for less often: three quarters of the time belong to others.
		defer func() { s.next = begin.Add(4 * time.Since(begin)) }()
		s.fault = s.look()
	}
	if s.fault != nil {
		return nil, nil, s.fault
	}
	tunes := make(map[string][]byte, len(s.briefs))
	maps.Copy(tunes, s.briefs)
	for _, id := range asked {
		if s.briefs[id] == nil {
			continue
		}
		var err error
		if tunes[id], err = s.tune(id); err != nil {
			return nil, nil, err
		}
	}
	return s.order, tunes, nil
}
