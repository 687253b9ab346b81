// Package dbtest starts database servers for tests: on loopback, in a temporary folder, as an
// ordinary user. Where a server's programs are not installed, tests skip and say so.
package dbtest

import (
	"bytes"
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
)

// Password is that of a server's only user.
const Password = "s3cret/&word"

// Listen is the address that servers listen at.
var Listen = "127.0.0.1"

// patience is how long a server may take to start or to stop.
const patience = 60 * time.Second

// Server is a running server.
type Server struct {
	// URL names its user and database, and no password: that is in the environment.
	URL string
	Log *Log

	kind        *kind
	folder, bin string
	port        int
	cmd         *exec.Cmd
}

// kind is what differs between PostgreSQL and MariaDB.
type kind struct {
	program, folders string // where to look for it
	missing          string // what to say where it is not installed
	url              string // with the port
	secret           string // the variable with the password
	stop, crash      syscall.Signal
	prepare, serve   func(*Server) *exec.Cmd                // makes the data; is the server
	exec             func(at, sql string) error             // runs statements at a URL
	fresh            func(*Server, string) (sql, at string) // makes an empty place of a name, and its URL
	// small is fresh in a file system of its own, which mount puts in the place of a folder.
	small func(t testing.TB, s *Server, name string, mount func(folder string)) (at string)
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
func find(name, also string) string {
	if found, _ := filepath.Glob(filepath.Join(also, name)); len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
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
func NewPostgres(t testing.TB) *Server {
	s := start(t, &postgres)
	t.Cleanup(s.remove)
	return s
}

// NewMariaDB starts a server that ends with the test.
func NewMariaDB(t testing.TB) *Server {
	s := start(t, &mariaDB)
	t.Cleanup(s.remove)
	return s
}

var shared struct {
	sync.Mutex
	servers map[*kind]*Server
}

// Shared is a PostgreSQL server that all tests of a process use. TestMain calls StopShared.
func Shared(t testing.TB) *Server { return share(t, &postgres) }

// SharedMariaDB is a MariaDB server that all tests of a process use.
func SharedMariaDB(t testing.TB) *Server { return share(t, &mariaDB) }

func share(t testing.TB, k *kind) *Server {
	shared.Lock()
	defer shared.Unlock()
	if shared.servers[k] == nil {
		s := start(t, k)
		if shared.servers == nil {
			shared.servers = map[*kind]*Server{}
		}
		shared.servers[k] = s
	}
	return shared.servers[k]
}

// StopShared stops the shared servers.
func StopShared() {
	for _, s := range shared.servers {
		s.remove()
	}
}

func start(t testing.TB, k *kind) *Server {
	t.Helper()
	bin := find(k.program, k.folders)
	if bin == "" {
		t.Skip("skipped: " + k.missing)
	}
	folder, err := os.MkdirTemp("", "dbtest-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{kind: k, folder: folder, bin: bin, port: freePort(t), Log: &Log{}}
	s.URL = fmt.Sprintf(k.url, s.port)
	os.Setenv(k.secret, Password)
	how := ordinary(t, folder)
	init := k.prepare(s)
	init.SysProcAttr, init.Dir = how, folder
	if out, err := init.CombinedOutput(); err != nil {
		os.RemoveAll(folder)
		t.Fatalf("%s: %v\n%s", k.program, err, out)
	}
	s.Start(t)
	return s
}

// file writes a file for the server and gives its path.
func (s *Server) file(name, text string) string {
	path := filepath.Join(s.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		panic(err)
	}
	return path
}

// command is one of the server's programs.
func (s *Server) command(program string, args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(s.bin, program), args...)
}

// durable has servers write as in use, for times: else their data need not survive the machine.
var durable = os.Getenv("DBTEST_DURABLE") != ""

// Start starts a server that was stopped.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.cmd = s.kind.serve(s)
	s.cmd.SysProcAttr, s.cmd.Dir = ordinary(t, s.folder), s.folder
	s.cmd.Stdout, s.cmd.Stderr = s.Log, s.Log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := s.kind.exec(s.URL, "select 1")
		if err == nil {
			return
		}
		if time.Since(begin) > patience {
			t.Fatalf("%s does not start: %v\n%s", s.cmd.Path, err, s.Log)
		}
	}
}

// Stop ends the server: at once with SIGQUIT, as a crash does, or in order with SIGINT.
func (s *Server) Stop(how syscall.Signal) {
	how = map[syscall.Signal]syscall.Signal{syscall.SIGINT: s.kind.stop, syscall.SIGQUIT: s.kind.crash}[how]
	s.cmd.Process.Signal(how)
	hard := time.AfterFunc(patience, func() { s.cmd.Process.Kill() })
	s.cmd.Wait()
	hard.Stop()
}

// remove ends the server and takes its folder away.
func (s *Server) remove() {
	s.Stop(syscall.SIGQUIT)
	os.RemoveAll(s.folder)
}

var places atomic.Int64

// Fresh is the URL of an empty place for a store: a schema, or a database.
func (s *Server) Fresh(t testing.TB) string {
	t.Helper()
	name := fmt.Sprint("s", places.Add(1))
	sql, at := s.kind.fresh(s, name)
	s.Exec(t, sql)
	return at
}

// Exec runs statements, at a URL if one is given.
func (s *Server) Exec(t testing.TB, sql string, at ...string) {
	t.Helper()
	if err := s.kind.exec(append(at, s.URL)[0], sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// As is the server's URL for another user, or another database.
func (s *Server) As(name, database string) string {
	u, _ := url.Parse(s.URL)
	u.User, u.Path = url.User(name), "/"+database
	return u.String()
}

// Small is the URL of an empty place in a file system of so many MiB. Where nobody may mount one
// the test is skipped.
func (s *Server) Small(t testing.TB, megabytes int) string {
	t.Helper()
	return s.kind.small(t, s, fmt.Sprint("s", places.Add(1)), func(folder string) {
		if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=777", megabytes)); err != nil {
			t.Skipf("skipped: no file system can be mounted here: %v", err)
		}
		t.Cleanup(func() { syscall.Unmount(folder, 0) })
	})
}
