package cli

import (
	"context"
	"errors"
	"fmt"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/device/replay"
	"stenciltune/runner"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

// Exit codes; documented in docs/command.md and stable.
const (
	OK           = 0
	Internal     = 1
	Usage        = 2
	NoSchedule   = 3
	NoDevice     = 4
	StoreLocked  = 5
	StoreCorrupt = 6
	HungUp       = bySignal + 1  // SIGHUP
	Interrupted  = bySignal + 2  // SIGINT
	Terminated   = bySignal + 15 // SIGTERM
)

// bySignal and the number of a signal are the exit code of a program that it ended.
const bySignal = 128

// Usagef is a fault of the command line or of an input file.
func Usagef(format string, args ...any) error { return tuner.Inputf(format, args...) }

// NoAnswer is an error that ends the program as a tune without a schedule does: a look-up
// without an answer, a wrong answer, a list of failures.
type NoAnswer struct{ error }

// NoAnswerf makes a NoAnswer.
func NoAnswerf(format string, args ...any) error { return NoAnswer{fmt.Errorf(format, args...)} }

// Silent ends the program with a code whose message has been printed.
type Silent int

func (Silent) Error() string { return "" }

// ExitCode tells which code an error ends with.
func ExitCode(err error) int {
	var input tuner.InputError
	var syntax *stencil.SyntaxError
	var rejection *space.Rejection
	var none *runner.ErrNoSchedule
	var missing NoAnswer
	var silent Silent
	switch {
	case err == nil:
		return OK
	case errors.As(err, &silent):
		return int(silent)
	case errors.Is(err, tuner.ErrInterrupted):
		return Interrupted
	case errors.As(err, &input), errors.As(err, &syntax), errors.As(err, &rejection), errors.Is(err, replay.ErrFormat), errors.Is(err, cache.ErrName):
		return Usage
	case errors.As(err, &none), errors.As(err, &missing), errors.Is(err, tuner.ErrNotTuned):
		return NoSchedule
	case errors.Is(err, device.ErrMissing), errors.Is(err, device.ErrLost):
		return NoDevice
	case errors.Is(err, cache.ErrCorrupt):
		return StoreCorrupt
	case errors.Is(err, cache.ErrLocked), errors.Is(err, cache.ErrUnwritable):
		return StoreLocked
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Internal
}
