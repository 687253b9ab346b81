package main

import (
	"context"
	"errors"
	"fmt"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/internal/runner"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Exit codes; documented in docs/command.md and stable.
const (
	exitOK          = 0
	exitInternal    = 1
	exitUsage       = 2
	exitNoSchedule  = 3
	exitDevice      = 4
	exitStore       = 5
	exitCorrupt     = 6
	exitInterrupted = 130
	exitTerminated  = 143
)

// usageError is a fault of the command line or of an input file.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// silentError ends the program with a code whose message has been printed.
type silentError int

func (silentError) Error() string { return "" }

// exitCode tells which code an error ends with.
func exitCode(err error) int {
	var usage usageError
	var syntax *stencil.SyntaxError
	var rejection *space.Rejection
	var none *runner.ErrNoSchedule
	var wrong *wrongAnswer
	var bench *benchFailure
	var silent silentError
	var missing noMatch
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &silent):
		return int(silent)
	case errors.As(err, &usage), errors.As(err, &syntax), errors.As(err, &rejection):
		return exitUsage
	case errors.As(err, &none), errors.As(err, &missing), errors.As(err, &wrong), errors.As(err, &bench):
		return exitNoSchedule
	case errors.Is(err, device.ErrMissing), errors.Is(err, device.ErrLost):
		return exitDevice
	case errors.Is(err, cache.ErrCorrupt):
		return exitCorrupt
	case errors.Is(err, cache.ErrLocked), errors.Is(err, cache.ErrUnwritable):
		return exitStore
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitInternal
}
