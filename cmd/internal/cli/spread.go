package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"stenciltune/device"
	"stenciltune/tuner"
)

// Group is tunes for devices of one model: each for whichever is free, or with Whole for all together.
type Group struct {
	Model tuner.Selection
	Whole bool
	Tasks []Task
}

// Task is one of many tunes.
type Task struct {
	Problem tuner.Problem
	Flags   TuneFlags
	lost    int // devices that were lost under it
}

// queue is a group's tasks.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond // with mu
	tasks   []Task
	running int // tasks that may come back
	lanes   int // devices that are left
}

// take gives the next task. With none it waits for those that run: one may come back.
func (q *queue) take() (t Task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.tasks) == 0 && q.running > 0 {
		q.changed.Wait()
	}
	if len(q.tasks) == 0 {
		return t, false
	}
	t, q.tasks = q.tasks[0], q.tasks[1:]
	q.running++
	return t, true
}

// ended tells that a task has; with lost, that its device is gone. That is left out then, unless it
// is the last, and its task goes to another, unless it has cost as many as it may.
func (q *queue) ended(t Task, lost bool) (out, again bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	if lost && q.lanes > 1 {
		q.lanes--
		t.lost++
		out, again = true, t.lost < device.MaxLosses
	}
	if again {
		q.tasks = slices.Insert(q.tasks, 0, t)
	}
	q.changed.Broadcast()
	return out, again
}

// done is a task that came to its end.
type done struct {
	task   Task
	config tuner.Config
	err    error
}

// Spread tunes the tasks of groups, as many at once as there are devices, and gives what came of each
// to a function, one at a time: its config, the zero Config where nothing was found, and its error. A
// device that is lost is left out and the work goes on. An error of the function ends it, and is
// returned; tuner.ErrInterrupted if the context ended before every task had begun. Devices that do not
// open are its error before any task begins.
func (a *App) Spread(parent context.Context, t *tuner.Tuner, groups []Group, each func(tuner.Problem, tuner.Config, error) error) error {
	ctx, stop := context.WithCancel(parent)
	defer stop()
	left := 0
	results := make(chan done)
	var start []func()
	for _, g := range groups {
		names, open := []string{g.Model.String()}, []tuner.Opener{g.Model.Open}
		if !g.Whole {
			several, end, err := g.Model.Each(ctx)
			if err != nil {
				return fmt.Errorf("--device %s: %w", g.Model, err)
			}
			defer end()
			names, open = g.Model, several
		}
		q := &queue{tasks: slices.Clone(g.Tasks), lanes: len(open)}
		q.changed = sync.NewCond(&q.mu)
		left += len(q.tasks)
		for i, o := range open {
			label := ""
			if len(groups)*len(open) > 1 {
				label = names[i]
			}
			start = append(start, func() { a.lane(ctx, t, q, o, label, results) })
		}
	}
	var lanes sync.WaitGroup
	for _, lane := range start {
		lanes.Go(lane)
	}
	go func() { lanes.Wait(); close(results) }()
	var failed error
	for r := range results {
		left--
		if failed != nil {
			continue
		}
		if failed = each(r.task.Problem, r.config, r.err); failed != nil {
			stop()
		}
	}
	if failed == nil && left > 0 {
		return tuner.ErrInterrupted
	}
	return failed
}

// lane tunes one task after the other on one device.
func (a *App) lane(ctx context.Context, t *tuner.Tuner, q *queue, open tuner.Opener, label string, results chan<- done) {
	for {
		task, ok := q.take()
		if !ok {
			return
		}
		if ctx.Err() != nil {
			q.ended(task, false)
			return
		}
		config, err := a.tuneOn(ctx, t, task.Problem, task.Flags, open, label)
		out, again := q.ended(task, errors.Is(err, device.ErrLost))
		if out {
			a.Say("%s was dropped, the others go on: %v", label, err)
		}
		if !again {
			results <- done{task, config, err}
		}
		if out {
			return
		}
	}
}

// tuneOn tunes a problem on a device that is opened for it. A label goes before the lines of one of
// several tunes at once, which draw no bar.
func (a *App) tuneOn(ctx context.Context, t *tuner.Tuner, p tuner.Problem, f TuneFlags, open tuner.Opener, label string) (tuner.Config, error) {
	d, err := open(ctx, p)
	if err != nil {
		return tuner.Config{}, err
	}
	defer d.Close()
	if label != "" {
		label += " " + p.Stencil.Name + ": "
	}
	watcher := a.watch(label)
	defer watcher.done()
	f.Watcher, f.Command = watcher, a.command()
	return t.Tune(ctx, p, d, f.Options)
}
