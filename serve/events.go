package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// patience is how long an event may take on its way.
const patience = 20 * time.Second

// most is how many tunes come in whole: one, and one beside it.
const most = 2

// events sends what has changed, at first everything, until the reader or the server goes. The
// tunes that the query names come in whole. Trouble with the source is an event as well.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	asked := r.URL.Query()["tune"]
	stream := stream{server: s, asked: asked[:min(most, len(asked))], sent: map[string][]byte{}}
	to := http.NewResponseController(w)
	tick := time.NewTicker(s.Every)
	defer tick.Stop()
	for {
		if name, data := stream.next(); data != nil {
			_ = to.SetWriteDeadline(time.Now().Add(patience)) // what has none writes without
			if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data); err != nil {
				return
			}
			if to.Flush() != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// stream is what one reader was sent.
type stream struct {
	server *Server
	asked  []string
	order  []string
	sent   map[string][]byte
	begun  bool
	fault  string
}

// next is the event that brings a reader up to date; no data if it is.
func (t *stream) next() (name string, data []byte) {
	order, tunes, err := t.server.current(t.asked)
	if err != nil {
		if err.Error() == t.fault {
			return "", nil
		}
		t.fault = err.Error()
		return "fault", encode(t.fault)
	}
	u := update{Tool: t.server.Tool, Time: time.Now().UTC(), Tunes: []json.RawMessage{}}
	for _, id := range order {
		if !bytes.Equal(t.sent[id], tunes[id]) {
			u.Tunes = append(u.Tunes, tunes[id])
		}
	}
	if !t.begun || !slices.Equal(order, t.order) {
		u.Order = order
	}
	if t.begun && t.fault == "" && len(u.Tunes) == 0 && u.Order == nil {
		return "", nil
	}
	t.begun, t.fault, t.order, t.sent = true, "", order, tunes
	return "tunes", encode(u)
}

// encode is a value as JSON on one line.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("serve: " + err.Error()) // it holds texts, and JSON that was made before
	}
	return b
}
