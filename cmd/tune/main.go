// Command tune finds the schedule that runs a stencil fastest on a device,
// proves its answer, remembers it and prints a config that other builds read.
//
//	tune --stencil jacobi3d --device 0            # on GPU 0
//	tune --stencil jacobi3d --device host         # on this machine's processor
//	tune --stencil jacobi3d --device replay:h200  # on a recording of an H200
//
// Data goes to stdout, progress and messages to stderr. See tune --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program: arguments in, exit code out.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, signalled, stop := withSignals(context.Background())
	defer stop()
	a := &app{out: stdout, err: stderr, args: args, begin: time.Now()}
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && err.Error() != "" {
		fmt.Fprintf(stderr, "tune: %v\n", err)
	}
	code := exitCode(err)
	if signalled.Load() == int32(syscall.SIGTERM) && (code == exitInterrupted || errors.Is(err, context.Canceled)) {
		code = exitTerminated
	}
	return code
}

// withSignals cancels the context at the first SIGINT, SIGTERM or SIGHUP and
// leaves the second to the system, which ends the program at once.
func withSignals(parent context.Context) (ctx context.Context, signalled *atomic.Int32, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signalled = new(atomic.Int32)
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-c:
			if n, ok := s.(syscall.Signal); ok {
				signalled.Store(int32(n))
			}
			signal.Stop(c)
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, signalled, func() { signal.Stop(c); cancel() }
}
