package cli

import (
	"sync"
	"testing"
	"time"
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
