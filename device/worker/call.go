package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"stenciltune/timing"
)

// call is one request under way. Its process fills it in and then closes done;
// the fields below done may be read only after that.
type call struct {
	id    uint64
	op    string
	limit time.Duration // from when it starts; 0 = none
	lax   bool          // nobody is hurt if it is never answered
	timer *time.Timer   // guarded by process.mu, as is begin until done is closed
	begin time.Time     // when the child started it; zero = it has not
	seen  looks         // at the child while it runs; guarded by process.mu

	done  chan struct{}
	reply reply[json.RawMessage]
	ended *ended // why there is no reply; nil if there is
	spent time.Duration
}

// guilty tells whether the child was busy with this call when it ended.
func (c *call) guilty() bool { return c.ended != nil && !c.begin.IsZero() }

// wait waits for the call's end. A cancelled context ends the wait with its
// error; a deadline does not, for it is part of the call's limit, which the
// process watches.
func (c *call) wait(ctx context.Context) error {
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		<-c.done
	}
	select {
	case <-c.done:
		return nil
	default:
		return ctx.Err()
	}
}

// await waits for what, unless the context is cancelled or everything is closed.
// Starting and replacing processes is not an operation's own time, so a deadline
// does not end the wait.
func await(ctx context.Context, what, closed <-chan struct{}) error {
	for cancelled := ctx.Done(); ; cancelled = nil {
		select {
		case <-what:
			return nil
		case <-closed:
			return errClosed
		case <-cancelled:
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
		}
	}
}

// decode reads the payload of a reply that is neither failure nor fault.
func decode[T any](c *call) (v T, err error) {
	if err = json.Unmarshal(c.reply.Payload, &v); err != nil {
		err = fmt.Errorf("worker: reply to %s: %w", c.op, err)
	}
	return v, err
}

// ending is the manner in which a process ended.
type ending int

const (
	died      ending = iota // by itself: signal, exit code, or nonsense on its stdout
	deadline                // killed: an operation passed its deadline
	poisoned                // it reported a sticky error
	stalled                 // killed: it answered nothing
	starved                 // killed: an operation passed its deadline for want of a processor
	cancelled               // killed: an operation's context was cancelled
	closed                  // its owner had no more use for it
)

// ended says how a process ended.
type ended struct {
	how     ending
	culprit *call // with deadline: whose
	reason  string
}

// outcome is the error that a reply carries, if any.
func (c *call) outcome() error {
	switch {
	case c.reply.Failure != nil:
		return c.reply.Failure.failure()
	case c.reply.Error != nil:
		return &remoteError{*c.reply.Error}
	}
	return nil
}

// starved tells whether the child gave up by itself, at its deadline and for want of a processor.
func (c *call) starved() bool {
	return c.reply.Failure != nil && c.reply.Failure.Status == timing.Timeout && c.seen.starved()
}

// within is a limit, cut to what a context's deadline leaves.
func within(ctx context.Context, limit time.Duration) time.Duration {
	if t, ok := ctx.Deadline(); ok {
		limit = min(limit, max(time.Until(t), time.Millisecond))
	}
	return limit
}
