package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/machine"
	"stenciltune/timing"
)

// TestStatusShowsWhoWorksOnWhat looks on while two processes share a tune, and after one was killed.
func TestStatusShowsWhoWorksOnWhat(t *testing.T) {
	store := clitest.StoreIn(t)
	look := func() (list []underWay) {
		t.Helper()
		code, out, stderr := tune(t, store, "status", "--json")
		if code != cli.OK {
			t.Fatalf("exit %d\n%s", code, stderr)
		}
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	if list := look(); len(list) != 0 {
		t.Errorf("of an empty store: %+v", list)
	}
	if code, out, stderr := tune(t, store, "status"); code != cli.OK || out != "" || !strings.Contains(stderr, "no tune runs") {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	tunes := []*clitest.Program{}
	for range 2 {
		p := clitest.Command(t, store, "--stencil", "jacobi3d", "--device", "replay:h200", "--exhaustive", "--share")
		start(t, p)
		tunes = append(tunes, p)
	}
	both := func(u underWay) bool {
		return len(u.Workers) == 2 && u.Workers[0].Phase == "search" && u.Workers[1].Phase == "search" && u.Evaluated > 5 && u.CellsPerSecond > 0
	}
	begin, list := time.Now(), look()
	for ; len(list) != 1 || !both(list[0]); list = look() {
		if time.Since(begin) > time.Minute {
			t.Fatalf("%+v", list)
		}
		time.Sleep(50 * time.Millisecond)
	}
	u := list[0]
	if u.Problem != "jacobi3d/f32/512x512x512" || u.Device != "NVIDIA H200" || u.Kind != "replay" || u.Objective != timing.ForTime || u.Best == "" {
		t.Errorf("%+v", u)
	}
	for _, w := range u.Workers {
		if !w.Alive || !w.Shared || w.HeardSeconds > 60 || strings.Count(w.Worker, ":") != 2 {
			t.Errorf("%+v", w)
		}
	}
	end(t, tunes[0], syscall.SIGKILL)
	code, out, stderr := tune(t, store, "status", "--stencil", "jacobi3d")
	if code != cli.OK || strings.Count(out, "\n") != 3 || !strings.Contains(out, "GCells/s") || !strings.Contains(out, "shares") {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	if _, out, _ := tune(t, store, "status", "--stencil", "jacobi2d"); out != "" {
		t.Errorf("of another stencil:\n%s", out)
	}
	if code, _ := end(t, tunes[1], syscall.SIGINT); code != cli.Interrupted {
		t.Errorf("exit %d\n%s", code, &tunes[1].Stderr)
	}
	if list := look(); len(list) != 1 || len(list[0].Workers) != 1 { // the killed one: the other has ended
		t.Errorf("%+v", list)
	}
}

// TestTogether: one that was not heard of is shown so, and does not count for the end.
func TestTogether(t *testing.T) {
	k := cache.Key{DType: "float32", Size: "8x8", Kind: machine.CUDA, DeviceName: "GPU"}
	r := cache.Running{Worker: "a:1:0", Stencil: cache.StencilInfo{Name: "mine"}, Problem: cache.ProblemInfo{Size: []int{8, 8}}, Phase: "search",
		Evaluated: 7, Best: "fast", BestTime: 64e-6, Left: 12, Age: 2 * time.Second}
	dead, slow, ended, other := r, r, r, r
	dead.Worker, dead.Evaluated, dead.Best, dead.BestTime, dead.Left, dead.Age = "b:1:0", 9, "faster", 32e-6, 100, time.Hour
	slow.Worker, slow.Best, slow.BestTime, slow.Left, slow.Age = "c:1:0", "slow", 1, 5, 0
	ended.Worker, ended.Phase = "d:1:0", ""
	other.Objective = timing.ForEnergy
	list := under(map[cache.Key][]cache.Running{k: {r, dead, slow, ended, other}}, func(cache.Key, *cache.Config) bool { return true })
	if len(list) != 2 || len(list[0].Workers) != 1 || list[0].Objective != timing.ForEnergy {
		t.Fatalf("%+v", list)
	}
	u := list[1]
	if u.Problem != "mine/f32/8x8" || u.Evaluated != 9 || u.Best != "faster" || u.CellsPerSecond != 2e6 || u.LeftSeconds != 10 || len(u.Workers) != 3 || u.Workers[1].Alive || !u.Workers[2].Alive {
		t.Errorf("%+v", u)
	}
}
