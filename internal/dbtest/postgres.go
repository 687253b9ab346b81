package dbtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

var postgres = kind{
	program: "initdb", folders: "/usr/lib/postgresql/*/bin",
	missing: "no PostgreSQL server here (Debian: apt-get install postgresql)",
	url:     "postgres://tune@127.0.0.1:%d/postgres",
	secret:  "PGPASSWORD",
	stop:    syscall.SIGINT,
	crash:   syscall.SIGQUIT,
	prepare: func(s *Server) *exec.Cmd {
		return s.command("initdb", "-D", filepath.Join(s.folder, "data"), "-U", "tune", "-A", "scram-sha-256", "--pwfile", s.file("password", Password),
			"-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	},
	serve: func(s *Server) *exec.Cmd {
		access := s.file("access", "local all all scram-sha-256\nhost all all all scram-sha-256\n")
		return s.command("postgres", "-D", filepath.Join(s.folder, "data"), "-p", fmt.Sprint(s.port), "-k", s.folder,
			"-c", "listen_addresses="+Listen, "-c", "hba_file="+access, "-c", fmt.Sprint("fsync=", durable), "-c", "shared_buffers=64MB", "-c", "max_connections=60")
	},
	exec: func(at, sql string) error {
		conn, err := pgconn.Connect(context.Background(), at)
		if err != nil {
			return err
		}
		defer conn.Close(context.Background())
		return conn.Exec(context.Background(), sql).Close()
	},
	fresh: func(s *Server, name string) (sql, at string) {
		return "create schema " + name, s.URL + "?search_path=" + name
	},
	small: func(t testing.TB, s *Server, name string, mount func(string)) string {
		folder := filepath.Join(s.folder, name)
		space := filepath.Join(folder, "space")
		if err := os.Mkdir(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		mount(folder)
		if err := os.Mkdir(space, 0o777); err != nil {
			t.Fatal(err)
		}
		ordinary(t, space)
		s.Exec(t, "create tablespace "+name+" location '"+space+"'")
		at := s.Fresh(t)
		t.Cleanup(func() {
			s.Exec(t, "drop table tune_record, tune_key, tune_store", at)
			s.Exec(t, "drop tablespace "+name)
		})
		return at + "&default_tablespace=" + name
	},
}
