// Package dbtest starts database servers for tests: on loopback, in a temporary folder, as an
// ordinary user. Where a server's programs are not installed, tests skip and say so.
package dbtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Password is that of the server's only user.
const Password = "s3cret/&word"

// patience is how long a server may take to start or to stop.
const patience = 60 * time.Second

// Postgres is a running server.
type Postgres struct {
	// URL names its user and database, and no password: that is in PGPASSWORD.
	URL string
	Log *Log

	folder, bin string
	port        int
	cmd         *exec.Cmd
}

// Log collects what a server prints.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// find gives the folder of a program, "" if it is not installed.
func find(name string, also ...string) string {
	for _, pattern := range also {
		found, _ := filepath.Glob(filepath.Join(pattern, name))
		if len(found) > 0 {
			return filepath.Dir(found[len(found)-1])
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Dir(path)
	}
	return ""
}

// ordinary is how a program runs as an ordinary user: servers refuse to run as root.
func ordinary(t testing.TB, folder string) *syscall.SysProcAttr {
	how := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() != 0 {
		return how
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skipf("skipped: root cannot run a database server, and there is no user nobody: %v", err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	how.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if err := os.Chown(folder, uid, gid); err != nil {
		t.Fatal(err)
	}
	return how
}

// freePort is a port of loopback that nobody listens on.
func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// NewPostgres starts a server that ends with the test.
func NewPostgres(t testing.TB) *Postgres {
	s := startPostgres(t)
	t.Cleanup(s.remove)
	return s
}

var shared struct {
	sync.Mutex
	server *Postgres
}

// Shared is a server that all tests of a process use. TestMain calls StopShared.
func Shared(t testing.TB) *Postgres {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		shared.server = startPostgres(t)
	}
	return shared.server
}

// StopShared stops the server of Shared, if there is one.
func StopShared() {
	if shared.server != nil {
		shared.server.remove()
	}
}

func startPostgres(t testing.TB) *Postgres {
	t.Helper()
	bin := find("initdb", "/usr/lib/postgresql/*/bin")
	if bin == "" {
		t.Skip("skipped: no PostgreSQL server here (Debian: apt-get install postgresql)")
	}
	folder, err := os.MkdirTemp("", "dbtest-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Postgres{folder: folder, bin: bin, port: freePort(t), Log: &Log{}}
	s.URL = fmt.Sprintf("postgres://tune@127.0.0.1:%d/postgres", s.port)
	os.Setenv("PGPASSWORD", Password)
	secret := filepath.Join(folder, "password")
	if err := os.WriteFile(secret, []byte(Password), 0o644); err != nil {
		t.Fatal(err)
	}
	init := exec.Command(filepath.Join(bin, "initdb"), "-D", filepath.Join(folder, "data"), "-U", "tune", "-A", "scram-sha-256", "--pwfile", secret,
		"-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	init.SysProcAttr, init.Dir = ordinary(t, folder), folder
	if out, err := init.CombinedOutput(); err != nil {
		os.RemoveAll(folder)
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.Start(t)
	return s
}

// Start starts a server that was stopped. Its data need not survive the machine, only itself.
func (s *Postgres) Start(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command(filepath.Join(s.bin, "postgres"), "-D", filepath.Join(s.folder, "data"), "-p", strconv.Itoa(s.port), "-k", s.folder,
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "shared_buffers=64MB", "-c", "max_connections=60")
	s.cmd.SysProcAttr, s.cmd.Dir = ordinary(t, s.folder), s.folder
	s.cmd.Stdout, s.cmd.Stderr = s.Log, s.Log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgconn.Connect(context.Background(), s.URL)
		if err == nil {
			conn.Close(context.Background())
			return
		}
		if time.Since(begin) > patience {
			t.Fatalf("PostgreSQL does not start: %v\n%s", err, s.Log)
		}
	}
}

// Stop ends the server: at once with SIGQUIT, as a crash does, or in order with SIGINT.
func (s *Postgres) Stop(how syscall.Signal) {
	s.cmd.Process.Signal(how)
	hard := time.AfterFunc(patience, func() { s.cmd.Process.Kill() })
	s.cmd.Wait()
	hard.Stop()
}

// remove ends the server and takes its folder away.
func (s *Postgres) remove() {
	s.Stop(syscall.SIGQUIT)
	os.RemoveAll(s.folder)
}

// Own gives a folder to the user that the server runs as.
func (s *Postgres) Own(t testing.TB, folder string) { ordinary(t, folder) }

var schemas atomic.Int64

// Fresh is the URL of an empty schema.
func (s *Postgres) Fresh(t testing.TB) string {
	t.Helper()
	name := fmt.Sprint("s", schemas.Add(1))
	s.Exec(t, "create schema "+name)
	return s.URL + "?search_path=" + name
}

// Exec runs statements, in the schema of a URL if one is given.
func (s *Postgres) Exec(t testing.TB, sql string, at ...string) {
	t.Helper()
	conn, err := pgconn.Connect(context.Background(), append(at, s.URL)[0])
	if err == nil {
		err = conn.Exec(context.Background(), sql).Close()
		conn.Close(context.Background())
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// As is the server's URL for another user, or another database.
func (s *Postgres) As(name, database string) string {
	u, _ := url.Parse(s.URL)
	u.User, u.Path = url.User(name), "/"+database
	return u.String()
}
