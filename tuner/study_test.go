package tuner

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"stenciltune/cache"
	"stenciltune/internal/dbtest"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

var (
	shares      = flag.Int("shares", 3, "processes that share a tune")
	evaluations = flag.Int("evaluations", 120, "schedules that they evaluate; 0 = all there are")
	database    = flag.String("database", "postgres", "`server` that the tune is shared over: postgres or mariadb")
	kills       = flag.Duration("kills", 0, "`time` between two of them being killed (default: once, after a third of the schedules)")
	lease       = flag.Duration("lease", 6*time.Second, "`time` of claims, of hosts whose network is cut")
	patience    = flag.Duration("patience", 4*time.Second, "`time` that they wait for the database")
)

// TestMain lets the test binary be one of the processes that share a tune.
func TestMain(m *testing.M) {
	if store := os.Getenv("TUNER_TEST_STORE"); store != "" {
		flag.Parse()
		if err := member(store); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// member tunes on a recording together with others. It says what it begins, what it has
// recorded, and how it ends.
func member(store string) error {
	t, err := Open(store)
	if err != nil {
		return err
	}
	cut := os.Getenv("TUNER_TEST_NETWORK") != ""
	if cut { // before a connection is made
		t.store.LockTimeout = *patience
	}
	for begin := time.Now(); t.store.Writable() != nil && time.Since(begin) < time.Minute; { // the server may be down just now
		time.Sleep(100 * time.Millisecond)
	}
	p, err := Spec{Stencil: "jacobi3d"}.Problem()
	if err != nil {
		return err
	}
	o := Options{Share: true, Watcher: &said{}, Exhaustive: true, NoPrior: true, Stop: search.Stop{Budget: *evaluations}}
	if cut {
		o.Lease = *lease
		o.Watcher = &said{pause: 15 * time.Millisecond} // or the other host ends while one is cut off
	}
	ctx := context.Background()
	d, err := OpenDevice(ctx, "replay:h200", p)
	if err != nil {
		return err
	}
	c, err := t.Tune(ctx, p, d, o)
	if err == nil {
		fmt.Println("end", c.Search.Stop, c.Search.Evaluated, c.Schedule.Text)
	}
	return err
}

// said prints what a member does in the search: baseline and finals each has for itself.
type said struct {
	silent
	phase string
	pause time.Duration // before each schedule
}

func (w *said) Phase(name string) { w.phase = name }

func (w *said) Trying(s space.Schedule) {
	if w.phase == "search" {
		time.Sleep(w.pause)
		fmt.Println("try", s)
	}
}

func (w *said) Evaluated(o, _ outcome.Outcome, _ search.Progress) {
	if w.phase == "search" && !o.Known {
		fmt.Println("did", o.Schedule)
	}
}

// inRecording is how many schedules the recording of jacobi3d holds.
const inRecording = 1449

// crew is the processes that share a tune, and what they said.
type crew struct {
	t     *testing.T
	store string

	mu        sync.Mutex
	running   []*exec.Cmd
	tried     map[string]int
	did       map[string]int
	by        map[*exec.Cmd]int // that did them
	ends      []string
	faults    []string
	killed    map[*exec.Cmd]bool
	all       sync.WaitGroup
	evaluated chan struct{}
}

func newCrew(t *testing.T, store string) *crew {
	return &crew{t: t, store: store, tried: map[string]int{}, did: map[string]int{}, by: map[*exec.Cmd]int{}, killed: map[*exec.Cmd]bool{}, evaluated: make(chan struct{}, 1)}
}

// hire starts one more, in the network of a process if one is given.
func (c *crew) hire(in ...string) *exec.Cmd {
	args := []string{os.Args[0], "-evaluations", fmt.Sprint(*evaluations), "-lease", lease.String(), "-patience", patience.String()}
	if len(in) > 0 {
		args = append([]string{"nsenter", "--net=/proc/" + in[0] + "/ns/net"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "TUNER_TEST_STORE="+c.store)
	cmd.Stderr, cmd.SysProcAttr = os.Stderr, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.running = append(c.running, cmd)
	c.mu.Unlock()
	c.all.Go(func() {
		c.listen(cmd, out)
		_ = cmd.Wait() // what it said tells
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running = slices.DeleteFunc(c.running, func(x *exec.Cmd) bool { return x == cmd })
	})
	return cmd
}

func (c *crew) listen(cmd *exec.Cmd, out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		c.mu.Lock()
		switch verb {
		case "try":
			c.tried[rest]++
		case "did":
			c.did[rest]++
			c.by[cmd]++
			select {
			case c.evaluated <- struct{}{}:
			default:
			}
		case "end":
			c.ends = append(c.ends, rest)
		default:
			c.faults = append(c.faults, lines.Text())
		}
		c.mu.Unlock()
	}
}

// kill kills one of those that run; false if there is none.
func (c *crew) kill() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.running) == 0 {
		return false
	}
	cmd := c.running[rand.N(len(c.running))]
	c.killed[cmd] = true
	return cmd.Process.Kill() == nil
}

// done is how many schedules are recorded, of all or by one.
func (c *crew) done(by ...*exec.Cmd) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(by) > 0 {
		return c.by[by[0]]
	}
	return len(c.did)
}

// TestATuneIsSharedByProcessesThatDie: processes share a tune over a database, and are killed and
// replaced meanwhile; the database crashes, too. No schedule is recorded twice, none is lost, and none
// runs twice but those that a killed process had under way.
//
//	DBTEST_DURABLE=1 go test ./tuner -run SharedByProcesses -v -shares 8 -evaluations 0 -kills 2s
func TestATuneIsSharedByProcessesThatDie(t *testing.T) {
	server := map[string]func(testing.TB) *dbtest.Server{"postgres": dbtest.NewPostgres, "mariadb": dbtest.NewMariaDB}[*database](t)
	c := newCrew(t, server.Fresh(t))
	begin := time.Now()
	for range *shares {
		c.hire()
	}
	total := *evaluations
	if total == 0 {
		total = inRecording
	}
	ended := make(chan struct{})
	go func() { c.all.Wait(); close(ended) }()
	next := time.Now().Add(*kills)
	for over, crashed := false, false; !over; {
		select {
		case <-ended:
			over = true
		case <-c.evaluated:
		case <-time.After(10 * time.Millisecond):
		}
		n := c.done()
		if n < total-total/20 && (*kills > 0 && time.Now().After(next) || *kills == 0 && len(c.killed) == 0 && n >= total/3) {
			if next = time.Now().Add(*kills); !over && c.kill() {
				c.hire()
			}
		}
		if !crashed && n >= 2*total/3 {
			crashed = true
			server.Stop(syscall.SIGQUIT)
			server.Start(t)
		}
	}
	took := time.Since(begin)
	stored, again := c.report()
	t.Logf("%d processes, %d killed, the database crashed once: %d schedules in %.1f s, %d begun again; they ended with %q", *shares, len(c.killed), stored, took.Seconds(), again, c.ends)
}

// report compares what the processes said with what is stored. It tells how many schedules are stored, and how many
// were begun again.
func (c *crew) report() (schedules, again int) {
	t := c.t
	tn, err := Open(c.store)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := tn.store.Keys()
	if err != nil || len(keys) != 1 {
		t.Fatalf("%d problems, %v", len(keys), err)
	}
	entries, err := tn.store.Entries(keys[0])
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]bool{}
	for _, e := range entries {
		stored[e.Schedule.String()] = true
		if e.Status == timing.WorkerLost {
			t.Errorf("%s is given up: %s", e.Schedule, e.Reason)
		}
	}
	for text, n := range c.tried {
		again += n - c.did[text]
		if n > 1 {
			t.Logf("%s was begun %d times, recorded %d times", text, n, c.did[text])
		}
	}
	for text, n := range c.did {
		if n > 1 {
			t.Errorf("%s was recorded %d times", text, n)
		}
		if !stored[text] {
			t.Errorf("%s was recorded, and is lost", text)
		}
	}
	if again > len(c.killed) {
		t.Errorf("%d were begun and not recorded, by %d processes that were killed", again, len(c.killed))
	}
	if *evaluations == 0 && len(stored) != inRecording || len(stored) < *evaluations {
		t.Errorf("%d schedules are stored", len(stored))
	}
	left, err := tn.store.Unfinished(keys[0])
	if err != nil || len(left) != 0 && *evaluations == 0 {
		t.Errorf("%+v, %v", left, err)
	}
	if len(c.ends) != *shares || len(c.faults) != 0 {
		t.Errorf("%d ended well: %q; the others said %q", len(c.ends), c.ends, c.faults)
	}
	slices.Sort(c.ends)
	return len(stored), again
}

// TestShareOptions: what those who join later would undo is refused.
func TestShareOptions(t *testing.T) {
	for _, o := range []Options{{Share: true, Again: true}, {Share: true, MaxAge: time.Hour}} {
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), "tune store prune") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestATuneIsSharedOnAFile: two tunes at once on a store that is a file, and one that joins when
// they have ended.
func TestATuneIsSharedOnAFile(t *testing.T) {
	at := filepath.Join(t.TempDir(), "store.db")
	var mu sync.Mutex
	did := map[string]int{}
	run := func(share bool) (Config, error) {
		tn, err := Open(at)
		if err != nil {
			return Config{}, err
		}
		p, err := Spec{Stencil: "jacobi3d"}.Problem()
		if err != nil {
			return Config{}, err
		}
		d, err := OpenDevice(t.Context(), "replay:h200", p)
		if err != nil {
			return Config{}, err
		}
		w := counted{f: func(s string) { mu.Lock(); did[s]++; mu.Unlock() }}
		return tn.Tune(t.Context(), p, d, Options{Share: share, Strategy: "random", Stop: search.Stop{Budget: 40}, Watcher: w})
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if c, err := run(true); err != nil || c.Search.Evaluated < 40 || c.Search.Evaluated > 45 {
				t.Errorf("%d evaluated, %v", c.Search.Evaluated, err)
			}
		})
	}
	wg.Wait()
	twice := 0
	for _, n := range did {
		if n > 1 {
			twice++
		}
	}
	if twice > 3 { // the baseline is
		t.Errorf("%d were measured twice", twice)
	}
	tn, err := Open(at)
	if err != nil {
		t.Fatal(err)
	}
	told, err := tn.store.Running()
	for _, all := range told {
		if slices.ContainsFunc(all, cache.Running.Alive) {
			t.Errorf("it has ended, and tells %+v", all)
		}
	}
	if err != nil {
		t.Error(err)
	}
	before := len(did)
	if _, err := run(true); err != nil || len(did) != before {
		t.Errorf("one that comes late measures %d, %v", len(did)-before, err)
	}
}

// counted calls back for what is measured.
type counted struct {
	silent
	f func(schedule string)
}

func (c counted) Evaluated(o, _ outcome.Outcome, _ search.Progress) {
	if !o.Known {
		c.f(o.Schedule.String())
	}
}
