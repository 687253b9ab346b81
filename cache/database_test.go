package cache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

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

// refusing are ways in which a server refuses a store, and how it is to be said. full is a store with one entry.
type refusing struct {
	name string
	url  string
	kind error
	want string
	read bool // works
}

// closedPort is an address of loopback at which nobody listens.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

func postgresRefuses(t *testing.T, server *dbtest.Server, full *Store) []refusing {
	server.Exec(t, `create role reader login password '`+dbtest.Password+`'`)
	server.Exec(t, `create database latin template template0 encoding latin1 locale 'C'`)
	schema := full.Path()[strings.Index(full.Path(), "?"):]
	return []refusing{
		{"wrong password", "postgres://tune:s3cret-not@" + strings.TrimPrefix(server.URL, "postgres://tune@"), ErrUnwritable, "PGPASSWORD", false},
		{"no user", server.As("nobody", "postgres"), ErrUnwritable, "PGPASSWORD", false},
		{"no database", server.As("tune", "missing"), ErrUnwritable, "createdb missing", false},
		{"encoding", server.As("tune", "latin"), ErrUnwritable, "LATIN1", false},
		{"nobody listens", "postgres://tune:s3cret@" + closedPort(t) + "/x", ErrUnwritable, "connection refused", false},
		{"no host", "postgres://tune:s3cret@no.such.host.invalid/x", ErrUnwritable, "no.such.host.invalid", false},
		{"no rights", server.As("reader", "postgres") + schema, ErrUnwritable, "grant", false},
		{"only to read", full.Path() + "&default_transaction_read_only=on", ErrUnwritable, "read only", true},
	}
}

func mariaDBRefuses(t *testing.T, server *dbtest.Server, full *Store) []refusing {
	server.Exec(t, `create user reader identified by '`+dbtest.Password+`'; create database others; grant select on others.* to reader`)
	place := full.Path()[strings.LastIndex(full.Path(), "/")+1:]
	return []refusing{
		{"wrong password", "mysql://tune:s3cret-not@" + strings.TrimPrefix(server.URL, "mysql://tune@"), ErrUnwritable, "MYSQL_PWD", false},
		{"no user", server.As("nobody", "tune"), ErrUnwritable, "MYSQL_PWD", false},
		{"no database", server.As("tune", "missing"), ErrUnwritable, "create database missing", false},
		{"nobody listens", "mysql://tune:s3cret@" + closedPort(t) + "/x", ErrUnwritable, "connection refused", false},
		{"no host", "mysql://tune:s3cret@no.such.host.invalid/x", ErrUnwritable, "no.such.host.invalid", false},
		{"no rights", server.As("reader", place), ErrUnwritable, "grant", false},
		{"no TLS", server.URL + "?tls=true", ErrUnwritable, "tls of MariaDB", false},
		{"only to read", full.Path() + "?tx_read_only=1", ErrUnwritable, "read only", true},
		{"an option that is none", server.URL + "?sslmode=s3cret", ErrUnwritable, "sslmode", false},
	}
}

func TestADatabaseThatRefusesSaysWhy(t *testing.T) {
	onServers(t, func(t *testing.T, server *dbtest.Server) {
		full := reopen(t, server.Fresh(t))
		must(t, full.Record(testKey(0), testEntry(0)))
		other := reopen(t, server.Fresh(t))
		must(t, other.Writable())
		server.Exec(t, `update tune_store set value = 'stenciltune.store/v2'`, other.Path())
		foreign := server.Fresh(t)
		server.Exec(t, `create table tune_store (x int)`, foreign)
		ways, grant := postgresRefuses, "grant usage on schema %s to reader; grant select on all tables in schema %s to reader"
		if strings.HasPrefix(server.URL, "mysql") {
			ways, grant = mariaDBRefuses, "grant select on %s.* to reader"
		}
		list := append(ways(t, server, full),
			refusing{"another version", other.Path(), ErrCorrupt, "stenciltune.store/v2", false},
			refusing{"other tables", foreign, ErrCorrupt, "not those of a store", false})
		for _, c := range list {
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
		place := full.Path()[strings.LastIndexAny(full.Path(), "/=")+1:]
		server.Exec(t, strings.ReplaceAll(grant, "%s", place))
		reader := reopen(t, strings.Replace(full.Path(), "tune@", "reader@", 1))
		if entries, err := reader.Entries(testKey(0)); err != nil || len(entries) != 1 {
			t.Errorf("%d entries, %v", len(entries), err)
		}
		refusal(t, reader.Writable(), ErrUnwritable, "grant")
		if entries, err := full.Entries(testKey(0)); err != nil || len(entries) != 1 {
			t.Errorf("%d entries are left, %v", len(entries), err)
		}
	})
}

// FuzzDatabaseURL: whatever a URL looks like, nothing that is shown of it holds a part of its password.
func FuzzDatabaseURL(f *testing.F) {
	for _, middle := range []string{"", "/", "#", "?", "%", "%zz", ":", " ", "\"", "\x00", "[", "\\", "é", "\xff", "&", ";", "=", "\n"} {
		f.Add(false, "ann", middle, "db.site/tuned")
		f.Add(true, "", middle, "[::1]:3307/tuned?tls=mine")
	}
	f.Add(true, "a(b", "x", "tcp(db:3306)/tuned")
	f.Add(false, "[", "/", "[::1]:3307/tuned?tls=mine")
	f.Add(false, "[", "/?", "[::1]:3307/tuned")
	f.Add(false, "[]\"", " #", "0")
	f.Add(false, "[", "x", "h:1,h2:b/tuned?sslmode=x&password=s3cret&host=/run")
	f.Fuzz(func(t *testing.T, mariadb bool, user, middle, rest string) {
		const first, last = "qzs3c", "r3tzq"
		for _, text := range []string{user, middle, rest} {
			if strings.Contains(text, "qz") || strings.Contains(text, "zq") {
				return
			}
		}
		name := "postgres://"
		if mariadb {
			name = "mariadb://"
		}
		name += user + ":" + first + middle + last + "@" + rest
		if strings.ContainsAny(user, "/?#:@") || strings.Contains(middle, "@") {
			return
		}
		if u, err := url.Parse(name); err == nil {
			if password, _ := u.User.Password(); password != first+middle+last {
				return // by its own rules the password begins or ends elsewhere
			}
		}
		if !HasPassword(name) {
			t.Errorf("%q has no password", name)
		}
		shown := ""
		if d, err := newDatabase(name, func() time.Duration { return 0 }); err != nil {
			shown = err.Error()
		} else {
			shown = d.path()
		}
		if strings.Contains(shown, "qz") || strings.Contains(shown, "zq") {
			t.Errorf("%q is shown as %q", name, shown)
		}
	})
}

func TestNamesOfDatabases(t *testing.T) {
	t.Setenv("PGHOST", "")
	for name, want := range map[string]string{
		"postgres://ann:s3cret@db.site/tuned":                                 "postgres://ann@db.site/tuned",
		"postgresql://ann@db.site:6432/tuned?password=s3cret&sslmode=disable": "postgres://ann@db.site:6432/tuned",
		"postgres://ann@/tuned?host=/run/pg":                                  "postgres://ann@/tuned?host=%2Frun%2Fpg",
		"mysql://ann:s3cret@db.site/tuned?tls=true":                           "mysql://ann@db.site/tuned",
		"mariadb://ann@[::1]:3307/tuned":                                      "mysql://ann@[::1]:3307/tuned",
		"mysql://ann:s3cret@/tuned?socket=/run/my.sock":                       "mysql://ann@/tuned?socket=%2Frun%2Fmy.sock",
	} {
		if s, err := Open(name); err != nil || s.Path() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if HasPassword(name) != strings.Contains(name, "s3cret") {
			t.Errorf("%s: a password: %v", name, HasPassword(name))
		}
	}
	for name, want := range map[string]string{
		"oracle://ann:s3cret@db/tuned":                "not oracle://",
		"mysql://ann:s3cret@tcp(db:3306)/tuned":       "port",
		"mysql://ann:s3cret@db/":                      "no database",
		"mysql://ann:s3cret@db/tuned?tls=mine":        "mine",
		"postgres://ann:s3cret@db:port/x":             "port",
		"postgres://ann:s3cret%zz@db/x":               "escape",
		"postgres://ann:s3cret@db/x?sslmode=s3cretly": "sslmode",
		"postgres://ann:12/s3cret@db/x":               "%2F",
		"mysql://ann:12/s3cret@db/x":                  "%2F",
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
	onServers(t, func(t *testing.T, server *dbtest.Server) {
		s := reopen(t, server.Fresh(t))
		s.LockTimeout = time.Minute // where much else runs a server takes long to start
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
	})
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
	onServers(t, func(t *testing.T, server *dbtest.Server) {
		at := server.Fresh(t)
		g := newGate(t, at)
		s := reopen(t, g.url(at))
		recordThrough(t, s, 40, func(i int) { g.answers.Store(int64(i % 5)) })
	})
}

// Whoever asks what became of a commit waits for one that has not ended.
func TestACommitUnderWayIsWaitedFor(t *testing.T) {
	onServers(t, func(t *testing.T, server *dbtest.Server) {
		s := reopen(t, server.Fresh(t))
		must(t, s.Writable())
		d, ctx := s.engine.(*database), context.Background()
		for _, end := range []string{"commit", "rollback"} {
			var id string
			first, err := d.connect(ctx)
			must(t, err)
			defer first.close(ctx)
			second, err := d.connect(ctx)
			must(t, err)
			defer second.close(ctx)
			must(t, first.send(ctx, d.begin([]wire{{Key: testKey(0).String()}}, time.Minute, time.Minute, d.known, &id)...))
			ended := make(chan error)
			go func() {
				time.Sleep(50 * time.Millisecond)
				ended <- first.send(ctx, statement{sql: end})
			}()
			if done, err := d.committed(ctx, second, id, func() (bool, error) { return true, nil }); err != nil || done != (end == "commit") {
				t.Errorf("%s: %v, %v", end, done, err)
			}
			must(t, <-ended)
		}
	})
}

// After a crash PostgreSQL gives numbers of transactions again that it has lost. One that was committed then is
// not ours unless what we have put is there.
func TestANumberThatIsGivenAgain(t *testing.T) {
	s := reopen(t, dbtest.Shared(t).Fresh(t))
	must(t, s.Record(testKey(0), testEntry(0)))
	d, ctx := s.engine.(*database), context.Background()
	l, err := d.connect(ctx)
	must(t, err)
	defer l.close(ctx)
	var other string // transaction, which commits
	must(t, l.send(ctx, append(d.begin([]wire{{Key: testKey(0).String()}}, time.Minute, time.Minute, d.known, &other), statement{sql: "commit"})...))
	at := entryAt(testKey(0).String(), testEntry(0))
	there := stored(t, s, at)
	for _, c := range []struct {
		put  map[spot][]byte
		want bool
	}{
		{map[spot][]byte{at: there}, true},
		{map[spot][]byte{at: []byte("other")}, false},
		{map[spot][]byte{entryAt(testKey(0).String(), testEntry(1)): there}, false},
		{map[spot][]byte{at: nil}, true}, // it has only dropped: the number has to do
	} {
		done, err := d.committed(ctx, l, other, func() (bool, error) { return d.seen(ctx, l, &writing{changed: c.put}) })
		if err != nil || done != c.want {
			t.Errorf("%q: %v, %v", c.put, done, err)
		}
	}
}

func TestANetworkThatHangsIsGivenUp(t *testing.T) {
	onServers(t, func(t *testing.T, server *dbtest.Server) {
		at := server.Fresh(t)
		g := newGate(t, at)
		s := reopen(t, g.url(at))
		must(t, s.Record(testKey(0), testEntry(0)))
		s.LockTimeout = time.Second
		g.hung.Store(true)
		begin := time.Now()
		refusal(t, s.Record(testKey(0), testEntry(1)), ErrUnwritable, "no answer in time")
		if took := time.Since(begin); took > 15*time.Second {
			t.Errorf("given up after %v", took)
		}
		begin, first := time.Now(), time.Since(begin)
		refusal(t, s.Record(testKey(0), testEntry(1)), ErrUnwritable, "no answer in time")
		if took := time.Since(begin); took > first/2 { // whoever only leaves need not wait as long again
			t.Errorf("given up after %v, and then after %v", first, took)
		}
		g.hung.Store(false)
		s.LockTimeout = 0
		must(t, s.Record(testKey(0), testEntry(1)))
		if entries, err := s.Entries(testKey(0)); err != nil || len(entries) != 2 {
			t.Errorf("%d entries, %v", len(entries), err)
		}
	})
}

func TestAWriterThatStaysIsSaid(t *testing.T) {
	onServers(t, func(t *testing.T, server *dbtest.Server) {
		s := reopen(t, server.Fresh(t))
		must(t, s.Record(testKey(0), testEntry(0)))
		other := s.engine.(*database) // a process that does not end its transaction
		var id string
		l, err := other.connect(context.Background())
		must(t, err)
		defer l.close(context.Background())
		must(t, l.send(context.Background(), other.begin([]wire{{Key: testKey(0).String()}}, time.Minute, time.Minute, other.known, &id)...))
		s.LockTimeout = 4 * time.Second
		refusal(t, s.Record(testKey(0), testEntry(1)), ErrLocked, "another process")
		if entries, err := s.Entries(testKey(0)); err != nil || len(entries) != 1 { // reading does not wait
			t.Errorf("%d entries, %v", len(entries), err)
		}
		must(t, l.send(context.Background(), statement{sql: "rollback"}))
		must(t, s.Record(testKey(0), testEntry(1)))
	})
}

// PostgreSQL looks records up by their index also where a table grew since it was last counted.
func TestPostgresReadsNoTableAsAWhole(t *testing.T) {
	s := reopen(t, dbtest.Shared(t).Fresh(t))
	var entries []Entry
	for i := range 1500 {
		entries = append(entries, testEntry(i))
	}
	must(t, s.Record(testKey(0), entries...))
	d, ctx := s.engine.(*database), context.Background()
	l, err := d.connect(ctx)
	must(t, err)
	defer l.close(ctx)
	for _, sql := range []string{pgWords.named, pgWords.deleteNamed, pgWords.upsert} {
		var plan strings.Builder
		for _, st := range about("explain "+sql, []wire{{Part: partJournal, Key: testKey(0).String(), Name: "x"}}, func(f [][]byte) error {
			plan.Write(append(f[0], '\n'))
			return nil
		}) {
			must(t, l.send(ctx, st))
		}
		if strings.Contains(plan.String(), "Seq Scan on tune_record") || plan.Len() == 0 {
			t.Errorf("%s\n%s", sql, &plan)
		}
	}
}

// A client that is away in the middle of its turn is given up before those that wait for it give up.
func TestAClientThatIsAwayGivesUpItsTurn(t *testing.T) {
	onServers(t, func(t *testing.T, server *dbtest.Server) {
		s, away := reopen(t, server.Fresh(t)), testKey(0).String()
		s.LockTimeout = 4 * time.Second
		must(t, s.Record(testKey(0), testEntry(0)))
		d, ctx := s.engine.(*database), context.Background()
		l, err := d.connect(ctx)
		must(t, err)
		defer l.close(ctx)
		_, err = d.enter(ctx, l, []spot{{partJournal, away, "x"}}, &writing{had: map[spot][]byte{}})
		must(t, err)
		must(t, s.Record(testKey(0), testEntry(1)))
		if err := l.send(ctx, statement{sql: "commit"}); err == nil {
			t.Error("it has its turn still")
		}
	})
}

// Two machines begin with one empty database, and two tunes meet at one schedule.
func TestManyMachinesMakeOneStore(t *testing.T) {
	onServers(t, func(t *testing.T, server *dbtest.Server) {
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
	})
}

// The tables lie in a file system of 4 MiB, which fills up.
func TestAFullDiskOfTheServer(t *testing.T) {
	onServers(t, func(t *testing.T, server *dbtest.Server) {
		s := reopen(t, server.Small(t, 4))
		var err error
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
	})
}

// offClock is an empty place on a server whose clock is an hour behind this machine's.
func offClock(t *testing.T, server *dbtest.Server) string {
	at := server.Fresh(t)
	if strings.HasPrefix(at, "mysql") {
		return at + fmt.Sprint("?timestamp=", time.Now().Add(-time.Hour).Unix())
	}
	server.Exec(t, "create function clock_timestamp() returns timestamptz language sql as $$ select pg_catalog.clock_timestamp() - interval '1 hour' $$", at)
	return at + ",pg_catalog" // where it looks after this schema
}

// The clocks of machines differ: what is stored has the server's time.
func TestTimesAreTheServers(t *testing.T) {
	onServers(t, func(t *testing.T, server *dbtest.Server) {
		s := reopen(t, offClock(t, server))
		e := testEntry(0)
		e.At = time.Time{}
		must(t, s.Advance(testKey(0), &Running{Worker: "a:1:0", Phase: "search"}, []Entry{e}, testEntry(1).Schedule))
		entries, err := s.Entries(testKey(0))
		must(t, err)
		told, err := s.Running()
		must(t, err)
		if age := told[testKey(0)][0].Age; age > time.Minute || !told[testKey(0)][0].Alive() {
			t.Errorf("it was told %v ago", age)
		}
		begun, err := s.Unfinished(testKey(0))
		must(t, err)
		now, err := s.engine.now()
		must(t, err)
		for _, at := range []time.Time{entries[0].At, begun[0].At, told[testKey(0)][0].At, now} {
			if behind := time.Since(at); behind < 59*time.Minute || behind > 61*time.Minute {
				t.Errorf("%v, which is %v ago", at, behind)
			}
		}
	})
}

// A store goes from a file to a database and back, and is the same.
func TestMergeBetweenKindsOfStore(t *testing.T) {
	onServers(t, func(t *testing.T, server *dbtest.Server) {
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
	})
}
