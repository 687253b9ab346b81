package cache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"stenciltune/internal/dbtest"
)

// refusal is an error that has a kind and a remedy, says so, and holds no password.
func refusal(t *testing.T, err error, kind error, want string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, kind) || e.Remedy == "" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("want %v with %q: %v", kind, want, err)
	}
	if err != nil && (strings.Contains(err.Error(), "s3cret") || strings.Contains(fmt.Sprintf("%+v", err), "s3cret")) {
		t.Errorf("the password is shown: %v", err)
	}
}

func TestADatabaseThatRefusesSaysWhy(t *testing.T) {
	server := dbtest.Shared(t)
	server.Exec(t, `create role reader login password '`+dbtest.Password+`'`)
	server.Exec(t, `create database latin template template0 encoding latin1 locale 'C'`)
	full := reopen(t, server.Fresh(t))
	must(t, full.Record(testKey(0), testEntry(0)))
	schema := full.Path()[strings.Index(full.Path(), "?"):]
	name := strings.TrimPrefix(schema, "?search_path=")
	other := reopen(t, server.Fresh(t))
	must(t, other.Writable())
	server.Exec(t, `update tune_store set value = 'stenciltune.store/v2'`, other.Path())
	foreign := server.Fresh(t)
	server.Exec(t, `create table tune_store (x int)`, foreign)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	closed.Close()
	for _, c := range []struct {
		name string
		url  string
		kind error
		want string
		read bool // works
	}{
		{"wrong password", "postgres://tune:s3cret-not@" + strings.TrimPrefix(server.URL, "postgres://tune@"), ErrUnwritable, "PGPASSWORD", false},
		{"no user", server.As("nobody", "postgres"), ErrUnwritable, "PGPASSWORD", false},
		{"no database", server.As("tune", "missing"), ErrUnwritable, "createdb missing", false},
		{"encoding", server.As("tune", "latin"), ErrUnwritable, "LATIN1", false},
		{"nobody listens", "postgres://tune:s3cret@" + closed.Addr().String() + "/x", ErrUnwritable, "connection refused", false},
		{"no host", "postgres://tune:s3cret@no.such.host.invalid/x", ErrUnwritable, "no.such.host.invalid", false},
		{"no rights", server.As("reader", "postgres") + schema, ErrUnwritable, "grant", false},
		{"only to read", full.Path() + "&default_transaction_read_only=on", ErrUnwritable, "read only", true},
		{"another version", other.Path(), ErrCorrupt, "stenciltune.store/v2", false},
		{"other tables", foreign, ErrCorrupt, "not those of a store", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reopen(t, c.url)
			begin := time.Now()
			if entries, err := s.Entries(testKey(0)); c.read && (err != nil || len(entries) != 1) {
				t.Errorf("%d entries, %v", len(entries), err)
			} else if !c.read {
				refusal(t, err, c.kind, c.want)
			}
			refusal(t, s.Writable(), c.kind, c.want)
			refusal(t, s.Record(testKey(0), testEntry(1)), c.kind, c.want)
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("said after %v", took)
			}
		})
	}
	server.Exec(t, "grant usage on schema "+name+" to reader; grant select on all tables in schema "+name+" to reader")
	reader := reopen(t, server.As("reader", "postgres")+schema)
	if entries, err := reader.Entries(testKey(0)); err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	refusal(t, reader.Writable(), ErrUnwritable, "grant")
	if entries, err := full.Entries(testKey(0)); err != nil || len(entries) != 1 {
		t.Errorf("%d entries are left, %v", len(entries), err)
	}
}

func TestNamesOfDatabases(t *testing.T) {
	t.Setenv("PGHOST", "")
	for name, want := range map[string]string{
		"postgres://ann:s3cret@db.site/tuned":                                 "postgres://ann@db.site/tuned",
		"postgresql://ann@db.site:6432/tuned?password=s3cret&sslmode=disable": "postgres://ann@db.site:6432/tuned",
		"postgres://ann@/tuned?host=/run/pg":                                  "postgres://ann@/tuned?host=%2Frun%2Fpg",
	} {
		if s, err := Open(name); err != nil || s.Path() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if HasPassword(name) != strings.Contains(name, "s3cret") {
			t.Errorf("%s: a password: %v", name, HasPassword(name))
		}
	}
	for name, want := range map[string]string{
		"mysql://ann:s3cret@db/tuned":                 "not mysql://",
		"postgres://ann:s3cret@db:port/x":             "port",
		"postgres://ann:s3cret%zz@db/x":               "escape",
		"postgres://ann:s3cret@db/x?sslmode=s3cretly": "sslmode",
	} {
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret@") || strings.Contains(err.Error(), "s3cret%") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{"/a/b.db", "store.db", "a/http://b"} {
		if IsURL(path) || HasPassword(path) {
			t.Errorf("%s is taken for a URL", path)
		}
	}
	t.Setenv("TUNE_STORE", "postgres://ann@db.site/tuned")
	if got, err := DefaultPath(); err != nil || got != "postgres://ann@db.site/tuned" {
		t.Errorf("%s, %v", got, err)
	}
}

// recordThrough records n entries as a tune does, and wants each to be there once, begun once.
func recordThrough(t *testing.T, s *Store, n int, each func(i int)) {
	t.Helper()
	for i := range n {
		each(i)
		must(t, s.Advance(testKey(0), nil, []Entry{begunEntry(i)}, testEntry(i+1).Schedule))
	}
	entries, err := s.Entries(testKey(0))
	must(t, err)
	if len(entries) != n {
		t.Fatalf("%d entries of %d", len(entries), n)
	}
	for _, e := range entries {
		if e.Schedule != testEntry(0).Schedule && e.Attempts != 1 {
			t.Errorf("%s was begun %d times", e.Schedule, e.Attempts)
		}
	}
	if left, err := s.Unfinished(testKey(0)); err != nil || len(left) != 1 || left[0].Attempts != 1 {
		t.Errorf("%+v, %v", left, err)
	}
}

// begunEntry is an entry that leaves it to the store how often it was begun.
func begunEntry(i int) Entry {
	e := testEntry(i)
	e.Attempts = 0
	return e
}

// The server ends in order, and as in a crash, while results come in: they wait for it.
func TestADatabaseThatStartsAgainLosesNothing(t *testing.T) {
	server := dbtest.Shared(t)
	s := reopen(t, server.Fresh(t))
	var back sync.WaitGroup
	recordThrough(t, s, 60, func(i int) {
		if how := map[int]syscall.Signal{20: syscall.SIGINT, 40: syscall.SIGQUIT}[i]; how != 0 {
			back.Wait()
			server.Stop(how)
			back.Go(func() { server.Start(t) })
		}
	})
	back.Wait()
	// One that stays away is told.
	s.LockTimeout = 200 * time.Millisecond
	server.Stop(syscall.SIGINT)
	refusal(t, s.Record(testKey(0), testEntry(999)), ErrUnwritable, "start the database")
	server.Start(t)
	s.LockTimeout = 0
	must(t, s.Record(testKey(0), testEntry(60)))
}

// gate is a network between a store and its server that can be cut.
type gate struct {
	listener net.Listener
	to       string
	hung     atomic.Bool  // nothing goes through any more
	answers  atomic.Int64 // after so many of the server's answers the connection is cut; 0 = never
}

func newGate(t *testing.T, server string) *gate {
	u, err := url.Parse(server)
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	g := &gate{listener: l, to: u.Host}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", g.to)
			if err != nil {
				in.Close()
				continue
			}
			go g.carry(out, in, false)
			go g.carry(in, out, true)
		}
	}()
	return g
}

func (g *gate) carry(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	for b := make([]byte, 1<<16); ; {
		n, err := from.Read(b)
		for g.hung.Load() {
			time.Sleep(5 * time.Millisecond)
		}
		if err != nil || answers && g.answers.Load() > 0 && g.answers.Add(-1) == 0 {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// url is the server's through the gate.
func (g *gate) url(server string) string {
	return strings.Replace(server, g.to, g.listener.Addr().String(), 1)
}

// The connection is cut at every moment of an operation, also after the server committed and
// before it could say so: everything is there once.
func TestACutConnectionLosesAndDoublesNothing(t *testing.T) {
	server := dbtest.Shared(t)
	at := server.Fresh(t)
	g := newGate(t, at)
	s := reopen(t, g.url(at))
	recordThrough(t, s, 40, func(i int) { g.answers.Store(int64(i % 5)) })
}

func TestANetworkThatHangsIsGivenUp(t *testing.T) {
	server := dbtest.Shared(t)
	at := server.Fresh(t)
	g := newGate(t, at)
	s := reopen(t, g.url(at))
	must(t, s.Record(testKey(0), testEntry(0)))
	s.LockTimeout = 300 * time.Millisecond
	g.hung.Store(true)
	begin := time.Now()
	refusal(t, s.Record(testKey(0), testEntry(1)), ErrUnwritable, "no answer in time")
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("given up after %v", took)
	}
	g.hung.Store(false)
	s.LockTimeout = 0
	must(t, s.Record(testKey(0), testEntry(1)))
	if entries, err := s.Entries(testKey(0)); err != nil || len(entries) != 2 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

func TestAWriterThatStaysIsSaid(t *testing.T) {
	server := dbtest.Shared(t)
	s := reopen(t, server.Fresh(t))
	must(t, s.Record(testKey(0), testEntry(0)))
	conn, err := pgconn.Connect(context.Background(), server.URL)
	must(t, err)
	defer conn.Close(context.Background())
	must(t, conn.Exec(context.Background(), "begin; "+lockAll).Close())
	s.LockTimeout = 4 * time.Second
	refusal(t, s.Record(testKey(0), testEntry(1)), ErrLocked, "another process")
	if entries, err := s.Entries(testKey(0)); err != nil || len(entries) != 1 { // reading does not wait
		t.Errorf("%d entries, %v", len(entries), err)
	}
	must(t, conn.Exec(context.Background(), "rollback").Close())
	must(t, s.Record(testKey(0), testEntry(1)))
}

// Two machines begin with one empty database, and two tunes meet at one schedule.
func TestManyMachinesMakeOneStore(t *testing.T) {
	server := dbtest.Shared(t)
	at := server.Fresh(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s := reopen(t, at)
			for range 5 {
				if err := s.Begin(testKey(0), testEntry(0).Schedule); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if left, err := reopen(t, at).Unfinished(testKey(0)); err != nil || len(left) != 1 || left[0].Attempts != 40 {
		t.Errorf("%+v, %v", left, err)
	}
}

// The tables lie in a file system of 1 MiB, which fills up.
func TestAFullDiskOfTheServer(t *testing.T) {
	server := dbtest.Shared(t)
	dir, err := os.MkdirTemp("", "dbtest-full-")
	must(t, err)
	defer os.RemoveAll(dir)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=777"); err != nil {
		t.Skipf("skipped: no file system can be mounted here: %v", err)
	}
	defer syscall.Unmount(dir, 0)
	space := filepath.Join(dir, "space")
	must(t, os.Mkdir(space, 0o777))
	server.Own(t, space)
	server.Exec(t, "create tablespace little location '"+space+"'")
	at := server.Fresh(t)
	s := reopen(t, at+"&default_tablespace=little")
	n, r := 0, rand.New(rand.NewPCG(1, 2))
	for ; n < 5000 && err == nil; n++ {
		e := testEntry(n)
		for len(e.Log) < 3000 { // it is not to be compressed
			e.Log += strconv.FormatUint(r.Uint64(), 36)
		}
		err = s.Record(testKey(0), e)
	}
	refusal(t, err, ErrUnwritable, "free some space on the server's disk")
	if entries, err := s.Entries(testKey(0)); err != nil || len(entries) != n-1 {
		t.Errorf("%d entries of %d, %v", len(entries), n-1, err)
	}
	server.Exec(t, "drop table tune_record, tune_key, tune_store", at)
	server.Exec(t, "drop tablespace little")
}

// offClock is an empty schema whose server's clock is an hour behind this machine's.
func offClock(t *testing.T, server *dbtest.Postgres) string {
	at := server.Fresh(t)
	server.Exec(t, "create function clock_timestamp() returns timestamptz language sql as $$ select pg_catalog.clock_timestamp() - interval '1 hour' $$", at)
	return at + ",pg_catalog" // where it looks after this schema
}

// The clocks of machines differ: what is stored has the server's time.
func TestTimesAreTheServers(t *testing.T) {
	s := reopen(t, offClock(t, dbtest.Shared(t)))
	e := testEntry(0)
	e.At = time.Time{}
	must(t, s.Advance(testKey(0), &Running{Phase: "search"}, []Entry{e}, testEntry(1).Schedule))
	entries, err := s.Entries(testKey(0))
	must(t, err)
	begun, err := s.Unfinished(testKey(0))
	must(t, err)
	told, err := s.Running()
	must(t, err)
	now, err := s.engine.now()
	must(t, err)
	for _, at := range []time.Time{entries[0].At, begun[0].At, told[testKey(0)].At, now} {
		if behind := time.Since(at); behind < 59*time.Minute || behind > 61*time.Minute {
			t.Errorf("%v, which is %v ago", at, behind)
		}
	}
}

// A store goes from a file to a database and back, and is the same.
func TestMergeBetweenKindsOfStore(t *testing.T) {
	server := dbtest.Shared(t)
	file, database, back := openTemp(t), reopen(t, server.Fresh(t)), openTemp(t)
	for i := range 40 { // more keys than take turns one by one
		c := storedConfig(i, i)
		must(t, file.PutBest(KeyOf(c), c))
		must(t, file.Record(KeyOf(c), testEntry(i), testEntry(i+1)))
	}
	for _, way := range [][2]*Store{{file, database}, {database, back}} {
		done, err := way[1].Import(strings.NewReader(exported(t, way[0])), nil)
		if err != nil || done.Configs != 40 || done.Entries != 80 {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	if exported(t, back) != exported(t, file) {
		t.Error("another store came back")
	}
}
