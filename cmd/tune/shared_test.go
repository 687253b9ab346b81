package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/internal/dbtest"
)

// What one machine measured, every other answers from; moved to a file it gives the same
// answers, and a password is neither taken from a command line nor shown.
func TestASharedStore(t *testing.T) {
	server := dbtest.NewPostgres(t)
	at := server.Fresh(t)
	problem := []string{"--stencil", "jacobi3d", "--device", "replay:h200"}
	code, first, stderr := tune(t, at, append(problem, "--budget", "12")...)
	if code != cli.OK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	code, again, stderr := tune(t, at, problem...)
	if code != cli.OK || first != again || !strings.Contains(stderr, "answered from the store") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	file := filepath.Join(t.TempDir(), "store.db")
	if code, _, stderr := tune(t, file, "store", "merge", at); code != cli.OK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	for _, args := range [][]string{{"best"}, {"best", "--size", "640x512x384"}, {"store", "list", "--json"}, {"store", "export", "--journal"}} {
		if args[0] == "best" {
			args = append(args, problem...)
		}
		code, database, stderr := tune(t, at, args...)
		_, local, _ := tune(t, file, args...)
		if code != cli.OK || database != local {
			t.Errorf("%v: exit %d, other than a file's answer\n%s\n%s\n%s", args, code, stderr, database, local)
		}
	}
	if code, out, stderr := tune(t, file, "store", "diff", at); code != cli.OK || len(out) > 0 {
		t.Errorf("exit %d, the stores differ: %s%s", code, out, stderr)
	}
	if _, out, stderr := tune(t, at, "doctor", "--device", "host"); !strings.Contains(out, "sound, not locked; room is the server's matter") {
		t.Errorf("the doctor says of it\n%s%s", out, stderr)
	}
	open := strings.Replace(at, "tune@", "tune:s3cret@", 1)
	for _, args := range [][]string{{"store", "list", "--store", open}, {"store", "merge", open}, {"store", "diff", open}, {"doctor", "--store", open}} {
		p := clitest.Command(t, file, args...)
		if code := p.Run(t); code != cli.Usage || !strings.Contains(p.Stderr.String(), "PGPASSWORD") || strings.Contains(p.Stderr.String(), "s3cret") {
			t.Errorf("%v: exit %d\n%s", args, code, &p.Stderr)
		}
	}
	p := clitest.Command(t, open, "store", "list") // in TUNE_STORE it is read by this user alone; it is wrong
	if code := p.Run(t); code != cli.StoreLocked || strings.Count(p.Stderr.String(), "\n") != 1 || !strings.Contains(p.Stderr.String(), "~/.pgpass") || strings.Contains(p.Stderr.String(), "s3cret") {
		t.Errorf("exit %d\n%s", code, &p.Stderr)
	}
	server.Stop(syscall.SIGINT)
	if code, _, stderr := tune(t, at, problem...); code != cli.StoreLocked || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "connection refused") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// MariaDB gives the answers that a file gives.
func TestAStoreInMariaDB(t *testing.T) {
	server := dbtest.NewMariaDB(t)
	at, file := server.Fresh(t), filepath.Join(t.TempDir(), "store.db")
	problem := []string{"--stencil", "jacobi2d", "--device", "replay:h200"}
	code, first, stderr := tune(t, file, append(problem, "--budget", "6")...)
	if code != cli.OK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	if code, _, stderr := tune(t, at, "store", "merge", file); code != cli.OK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	code, again, stderr := tune(t, at, problem...)
	if code != cli.OK || first != again || !strings.Contains(stderr, "answered from the store") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if code, out, stderr := tune(t, at, "store", "diff", file); code != cli.OK || len(out) > 0 {
		t.Errorf("exit %d, the stores differ: %s%s", code, out, stderr)
	}
	p := clitest.Command(t, file, "store", "list", "--store", strings.Replace(at, "tune@", "tune:s3cret@", 1))
	if code := p.Run(t); code != cli.Usage || !strings.Contains(p.Stderr.String(), "MYSQL_PWD") || strings.Contains(p.Stderr.String(), "s3cret") {
		t.Errorf("exit %d\n%s", code, &p.Stderr)
	}
	server.Stop(syscall.SIGINT)
	if code, _, stderr := tune(t, at, problem...); code != cli.StoreLocked || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "connection refused") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}
