package cli

import (
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"stenciltune/tuner"
)

func queueOf(lanes, tasks int) *queue {
	q := &queue{tasks: make([]Task, tasks), lanes: lanes}
	q.changed = sync.NewCond(&q.mu)
	for i := range q.tasks {
		q.tasks[i].Flags.Seed = uint64(i)
	}
	return q
}

// A device that is lost leaves its task to one that has nothing to do any more.
func TestATaskOfALostDeviceIsAnothers(t *testing.T) {
	q := queueOf(2, 1)
	task, ok := q.take()
	if !ok {
		t.Fatal("no task")
	}
	got := make(chan bool)
	go func() {
		_, ok := q.take() // waits: the one task is under way
		got <- ok
	}()
	time.Sleep(10 * time.Millisecond)
	if out, again := q.ended(task, true); !out || !again {
		t.Errorf("out %v, again %v", out, again)
	}
	if !<-got {
		t.Error("the task is nobody's")
	}
}

func TestATaskMayCostTwoDevicesAndNotTheLast(t *testing.T) {
	q := queueOf(4, 2)
	for i, want := range []struct{ out, again bool }{{true, true}, {true, false}, {true, true}, {false, false}} {
		task, ok := q.take()
		if !ok || task.Flags.Seed != uint64(i/2) {
			t.Fatalf("%d: task %v %d", i, ok, task.Flags.Seed)
		}
		if out, again := q.ended(task, true); out != want.out || again != want.again {
			t.Errorf("%d: out %v, again %v", i, out, again)
		}
	}
	if _, ok := q.take(); ok || q.lanes != 1 {
		t.Errorf("a task is left, with %d devices", q.lanes)
	}
}

// Where the devices of one model do not open, nothing is begun on those of another.
func TestNothingIsLeftRunningWhereDevicesDoNotOpen(t *testing.T) {
	tn, err := tuner.Open(filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := tuner.Spec{Stencil: "jacobi3d"}.Problem()
	if err != nil {
		t.Fatal(err)
	}
	tasks := []Task{{Problem: p}}
	groups := []Group{{Model: tuner.Selection{"replay:h200"}, Tasks: tasks}}
	for range 5000 { // time for the first to begin
		groups = append(groups, Group{Model: tuner.Selection{"replay:h200"}})
	}
	before := runtime.NumGoroutine()
	err = new(App).Spread(t.Context(), tn, append(groups, Group{Model: tuner.Selection{"0", "1"}, Tasks: tasks}),
		func(tuner.Problem, tuner.Config, error) error { return errors.New("a task came to its end") })
	if err == nil {
		t.Fatal("two GPUs were opened by a program that cannot")
	}
	for until := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines are left, there were %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
