package tuner

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stenciltune/internal/dbtest"
)

// network is a machine with a database, and hosts that reach it over a switch: name spaces of the system.
type network struct {
	t     *testing.T
	hosts int
}

// atDatabase is where the hosts reach the database.
const atDatabase = "10.77.0.1"

// site is one of a network's. It lasts as long as a process that only sleeps.
type site struct {
	link string // the switch's end of it
	pid  string
}

// inNetwork runs a test again in a name space of its own.
func inNetwork(t *testing.T, test func(n *network)) {
	if os.Getenv("TUNER_TEST_NETWORK") == t.Name() {
		n := &network{t: t}
		n.ip("link set lo up")
		n.ip("link add switch address 02:00:00:00:00:01 type bridge")
		n.ip("addr add " + atDatabase + "/24 dev switch")
		n.ip("link set switch up")
		dbtest.Listen = "0.0.0.0"
		test(n)
		return
	}
	for _, program := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("skipped: no hosts can be made here (Debian: apt-get install iproute2 util-linux): %v", err)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$", "-lease", lease.String(), "-patience", patience.String())
	cmd.Env = append(os.Environ(), "TUNER_TEST_NETWORK="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGTERM}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch _, why, skipped := strings.Cut(string(out), "skipped: "); {
	case err != nil && !errors.As(err, &exit):
		t.Skipf("skipped: no hosts can be made here, it takes an administrator: %v", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case skipped:
		why, _, _ = strings.Cut(why, "\n")
		t.Skip("skipped: " + why)
	}
	t.Logf("%s", out)
}

// ip is a command of iproute2, in the name space of a process if one is given.
func (n *network) ip(args string, in ...string) {
	n.t.Helper()
	cmd := append([]string{"ip"}, strings.Fields(args)...)
	if len(in) > 0 {
		cmd = append([]string{"nsenter", "--net=/proc/" + in[0] + "/ns/net"}, cmd...)
	}
	if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
		if strings.HasPrefix(args, "link add") { // of a kind that the system may not have
			n.t.Skipf("skipped: no hosts can be made here: ip %s: %v: %s", args, err, bytes.TrimSpace(out))
		}
		n.t.Fatalf("ip %s: %v: %s", args, err, bytes.TrimSpace(out))
	}
}

// host makes one more.
func (n *network) host() site {
	n.hosts++
	h := site{link: fmt.Sprint("to", n.hosts)}
	sleeps := exec.Command("sleep", "600")
	sleeps.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := sleeps.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { sleeps.Process.Kill(); sleeps.Wait() })
	h.pid = fmt.Sprint(sleeps.Process.Pid)
	n.ip("link add " + h.link + " type veth peer name eth0 netns " + h.pid)
	n.ip("link set " + h.link + " up master switch")
	n.ip(fmt.Sprintf("addr add 10.77.0.%d/24 dev eth0", n.hosts+1), h.pid)
	n.ip("link set eth0 up", h.pid)
	return h
}

// cut has the switch drop for some time what a host sends and is sent. The host's own link stays up.
func (n *network) cut(h site, d time.Duration) {
	n.ip("link set " + h.link + " nomaster")
	time.Sleep(d)
	n.ip("link set " + h.link + " master switch")
}

// Two hosts share a tune, and one loses its network: for less than an operation's patience, after which both
// go on; and for longer than a lease, in which time it gives up and the other does its work. Nothing is lost or done
// twice, and who comes back gets the same answer.
//
//	go test ./tuner -run NetworkIsCut -v -lease 30s -patience 20s
func TestAHostWhoseNetworkIsCut(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *dbtest.Server{"postgres": dbtest.NewPostgres, "mariadb": dbtest.NewMariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inNetwork(t, func(n *network) {
				server := start(t)
				c := newCrew(t, strings.Replace(server.Fresh(t), "127.0.0.1", atDatabase, 1))
				*shares, *evaluations = 2, 900
				a, b := n.host(), n.host()
				first := c.hire(a.pid)
				c.hire(b.pid)
				c.await(10, first)
				n.cut(a, *patience*3/4)
				c.await(c.done(first)+10, first)
				n.cut(a, *lease*5/4)
				c.all.Wait()
				if len(c.faults) != 1 || !strings.Contains(c.faults[0], "see to the network; what was stored before is intact") && !strings.Contains(c.faults[0], "no route to host") {
					t.Errorf("the host that was cut off says %q", c.faults)
				}
				c.faults = nil
				c.hire(a.pid)
				c.all.Wait()
				c.killed[nil] = true // the schedule that ran while the network went
				stored, again := c.report()
				t.Logf("%d schedules, %d begun again; they ended with %q", stored, again, c.ends)
				if ends := slices.Compact(c.ends); len(ends) != 1 {
					t.Errorf("they ended with %q", ends)
				}
			})
		})
	}
}

// await waits until so many schedules are recorded by one.
func (c *crew) await(n int, by *exec.Cmd) {
	for begin := time.Now(); c.done(by) < n; time.Sleep(2 * time.Millisecond) {
		if c.mu.Lock(); len(c.faults) > 0 || len(c.ends) > 0 || time.Since(begin) > time.Minute {
			c.t.Fatalf("%d of %d are recorded after %v; faults %q, ends %q", c.by[by], n, time.Since(begin), c.faults, c.ends)
		}
		c.mu.Unlock()
	}
}
