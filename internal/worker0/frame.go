package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"stenciltune/device"
	"stenciltune/device/timing"
)

// maxFrame is the largest message either side accepts, in bytes.
const maxFrame = 64 << 20

// request is a message to a child.
type request struct {
	ID      uint64          `json:"id"`
	Op      string          `json:"op"`
	Payload json.RawMessage `json:"payload"`
}

// reply is a child's answer: a payload, a schedule's failure, or an error that
// means more than that.
type reply struct {
	ID      uint64          `json:"id"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Failure *failure        `json:"failure,omitempty"`
	Error   string          `json:"error,omitempty"`
	Missing bool            `json:"missing,omitempty"` // device.ErrMissing
	Lost    bool            `json:"lost,omitempty"`    // device.ErrLost
	Sticky  bool            `json:"sticky,omitempty"`  // the child must end
}

type failure struct {
	Status timing.Status `json:"status"`
	Reason string        `json:"reason"`
	Log    string        `json:"log,omitempty"`
}

// writeFrame writes one message.
func writeFrame(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("worker message: %w", err)
	}
	if len(body) > maxFrame {
		return fmt.Errorf("worker message of %d bytes exceeds %d", len(body), maxFrame)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, len(body)+4), uint32(len(body)))
	_, err = w.Write(append(frame, body...))
	return err
}

// readFrame reads one message; io.EOF means that the other side has ended.
func readFrame(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return fmt.Errorf("worker message of %d bytes exceeds %d", n, maxFrame)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}

// sticky is what an error of a poisoned device offers.
func sticky(err error) bool {
	var s interface{ Sticky() bool }
	return errors.As(err, &s) && s.Sticky()
}

// answer turns an error into a reply's fields.
func (r *reply) answer(err error) {
	if err == nil {
		return
	}
	if f := device.AsFailure(err); f != nil {
		r.Failure = &failure{f.Status, f.Reason, f.Log}
	} else {
		r.Error = err.Error()
	}
	r.Missing, r.Lost, r.Sticky = errors.Is(err, device.ErrMissing), errors.Is(err, device.ErrLost), sticky(err)
}

// err is the error a reply stands for.
func (r *reply) err() error {
	switch {
	case r.Failure != nil:
		return &device.Failure{Status: r.Failure.Status, Reason: r.Failure.Reason, Log: r.Failure.Log}
	case r.Error == "":
		return nil
	case r.Missing:
		return &remoteError{r.Error, device.ErrMissing}
	case r.Lost:
		return &remoteError{r.Error, device.ErrLost}
	}
	return &remoteError{r.Error, nil}
}

// remoteError carries a child's message and what kind it was.
type remoteError struct {
	text string
	kind error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.kind }
