package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// protocol is raised with every change of a message, so that a program that was
// replaced on disk while it ran does not talk to its successor.
const protocol = 3

// The operations a parent may ask for.
const (
	opCompiler  = "compiler" // open the compiler
	opCompile   = "compile"
	opExecutor  = "executor" // open the device
	opLoad      = "load"
	opCheck     = "check"
	opTime      = "time"
	opEnergy    = "energy"
	opCopy      = "copy"
	opRelease   = "release"
	opTelemetry = "telemetry"
)

// doing is what the operations with a deadline are called in reasons.
var doing = map[string]string{
	opCompiler: "opening the compiler", opCompile: "compile", opExecutor: "opening the device", opLoad: "load",
	opCheck: "check", opTime: "timing", opEnergy: "measuring energy", opCopy: "copy", opRelease: "unload",
}

// request is what a parent sends. P is any when sending and json.RawMessage when
// receiving, so that a payload is encoded once.
type request[P any] struct {
	ID      uint64  `json:"id"`
	Op      string  `json:"op"`
	Limit   float64 `json:"limit,omitempty"` // seconds the operation may take, 0 = any
	Payload P       `json:"payload,omitempty"`
}

// reply is what a child sends: Started when it begins a request, then exactly
// one reply that ends it.
type reply[P any] struct {
	ID      uint64   `json:"id"`
	Started bool     `json:"started,omitempty"`
	Payload P        `json:"payload,omitempty"`
	Failure *failure `json:"failure,omitempty"`
	Error   *fault   `json:"error,omitempty"`
	Sticky  bool     `json:"sticky,omitempty"` // the child is unfit and exits now
}

// failure is a device.Failure on the wire.
type failure struct {
	Status timing.Status `json:"status"`
	Reason string        `json:"reason"`
	Log    string        `json:"log,omitempty"`
}

// fault is any other error on the wire: its text and what it is.
type fault struct {
	Text    string `json:"text"`
	Missing bool   `json:"missing,omitempty"`
	Lost    bool   `json:"lost,omitempty"`
}

// remoteError is a fault on the parent's side.
type remoteError struct{ fault }

func (e *remoteError) Error() string { return e.Text }

// Is finds the sentinels that the child's error had in its chain.
func (e *remoteError) Is(target error) bool {
	return target == device.ErrMissing && e.Missing || target == device.ErrLost && e.Lost
}

// wireError splits an error of a backend into what crosses the pipe.
func wireError(err error) (*failure, *fault) {
	if err == nil {
		return nil, nil
	}
	missing, lost := errors.Is(err, device.ErrMissing), errors.Is(err, device.ErrLost)
	if f := device.AsFailure(err); f != nil && !missing && !lost {
		return &failure{f.Status, oneLine(f.Reason), strings.ToValidUTF8(device.Clip(f.Log), "\uFFFD")}, nil
	}
	return nil, &fault{Text: oneLine(err.Error()), Missing: missing, Lost: lost}
}

// failure gives back the device.Failure.
func (f *failure) failure() *device.Failure {
	return &device.Failure{Status: f.Status, Reason: f.Reason, Log: f.Log}
}

// maxReason is where a reason is clipped, in bytes.
const maxReason = 1 << 10

// oneLine makes text of unknown origin fit for a reason: one line, printable,
// bounded. Drivers, compilers and dying processes say what they like.
func oneLine(s string) string {
	const mark = " ..."
	if len(s) > maxReason {
		s = s[:maxReason-len(mark)] + mark
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(s, "?"))
	return strings.TrimSpace(s)
}

// hello opens a compiler or a device.
type hello struct {
	Protocol int `json:"protocol"`
	Threads  int `json:"threads,omitempty"` // compiles at once
}

// welcome is the answer to hello; a compiler's is empty.
type welcome struct {
	Machine machine.Machine `json:"machine"`
	Sensor  bool            `json:"sensor"`
	Copier  bool            `json:"copier"`
	Metered bool            `json:"metered"`
}

type compileRequest struct {
	Kernel  kernels.Kernel  `json:"kernel"`
	Machine machine.Machine `json:"machine"`
}

// loadRequest carries the image; every later request names the binary by its ID.
type loadRequest struct {
	Binary device.Binary  `json:"binary"`
	Launch kernels.Launch `json:"launch"`
}

type releaseRequest struct {
	ID string `json:"id"`
}

type copyRequest struct {
	Bytes int64 `json:"bytes"`
}

// pass is a device.Pass with the binary's ID in its place.
type pass struct {
	ID     string         `json:"id"`
	Launch kernels.Launch `json:"launch"`
	Count  int            `json:"count"`
}

func wirePasses(passes []device.Pass) []pass {
	var w []pass
	for _, p := range passes {
		w = append(w, pass{p.Binary.ID, p.Launch, p.Count})
	}
	return w
}

type checkRequest struct {
	Problem stencil.Problem     `json:"problem"`
	Passes  []pass              `json:"passes"`
	Seed    uint32              `json:"seed"`
	Allowed []stencil.Allowance `json:"allowed,omitempty"`
	Trusted []pass              `json:"trusted,omitempty"`
	Reduce  bool                `json:"reduce,omitempty"`
}

type timeRequest struct {
	Problem     stencil.Problem `json:"problem"`
	Runs        []pass          `json:"runs"`
	Policy      timing.Policy   `json:"policy"`
	Interleaved bool            `json:"interleaved,omitempty"`
}

type energyRequest struct {
	Problem stencil.Problem `json:"problem"`
	Run     pass            `json:"run"`
	Stretch timing.Stretch  `json:"stretch"`
}

// comparison is a stencil.Comparison whose error may be infinite or NaN: that of
// a wrong answer often is.
type comparison struct {
	stencil.Comparison
	MaxError  outcome.Float `json:"max_error"` // hides the embedded one, in JSON too
	Tolerance outcome.Float `json:"tolerance"`
}

func wireComparison(c stencil.Comparison) comparison {
	w := comparison{c, outcome.Float(c.MaxError), outcome.Float(c.Tolerance)}
	w.Comparison.MaxError, w.Comparison.Tolerance = 0, 0
	return w
}

func (c comparison) comparison() stencil.Comparison {
	r := c.Comparison
	r.MaxError, r.Tolerance = float64(c.MaxError), float64(c.Tolerance)
	return r
}

// overdue makes a failure of an operation that gave up when its deadline passed
// and named no failure itself. What it left behind is unknown.
func overdue(ctx context.Context, err error) error {
	if err != nil && device.AsFailure(err) == nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return stickyTimeout{device.Fail(timing.Timeout, "gave up at its deadline: %v", err)}
	}
	return err
}

// stickyTimeout is a time-out after which the process must end.
type stickyTimeout struct{ *device.Failure }

func (e stickyTimeout) Unwrap() error { return e.Failure }
func (e stickyTimeout) Error() string { return fmt.Sprint(e.Failure) }
func (stickyTimeout) Sticky() bool    { return true }
