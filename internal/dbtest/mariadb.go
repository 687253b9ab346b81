package dbtest

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// quick is a small server that leaves it to the system when to write.
var quick = func() []string {
	all := []string{"--innodb-log-file-size=4M", "--innodb-buffer-pool-size=32M", "--skip-log-bin", "--performance-schema=off"}
	if !durable {
		all = append(all, "--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=2")
	}
	return all
}()

var mariaDB = kind{
	program: "mariadb-install-db",
	missing: "no MariaDB server here (Debian: apt-get install mariadb-server)",
	url:     "mysql://tune@127.0.0.1:%d/tune",
	secret:  "MYSQL_PWD",
	stop:    syscall.SIGTERM,
	crash:   syscall.SIGKILL,
	prepare: func(s *Server) *exec.Cmd {
		return s.command("mariadb-install-db", append([]string{"--no-defaults", "--datadir=" + filepath.Join(s.folder, "data"),
			"--tmpdir=" + s.folder,
			"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"}, quick...)...)
	},
	serve: func(s *Server) *exec.Cmd {
		init := s.file("init.sql", "create database if not exists tune;\ncreate user if not exists tune identified by '"+Password+"';\ngrant all on *.* to tune with grant option;\n")
		return exec.Command(filepath.Join(find("mariadbd", "/usr/sbin"), "mariadbd"), append([]string{"--no-defaults", "--datadir=" + filepath.Join(s.folder, "data"),
			fmt.Sprint("--port=", s.port), "--bind-address=" + Listen, "--socket=" + filepath.Join(s.folder, "socket"), "--skip-name-resolve",
			"--pid-file=" + filepath.Join(s.folder, "pid"), "--tmpdir=" + s.folder, "--init-file=" + init}, quick...)...)
	},
	exec: func(at, sql string) error {
		u, err := url.Parse(at)
		if err != nil {
			return err
		}
		c := mysql.NewConfig()
		c.Net, c.Addr, c.User, c.Passwd, c.DBName, c.MultiStatements, c.Logger = "tcp", u.Host, u.User.Username(), Password, u.Path[1:], true, &mysql.NopLogger{}
		connector, err := mysql.NewConnector(c)
		if err != nil {
			return err
		}
		conn, err := connector.Connect(context.Background())
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
		return err
	},
	fresh: func(s *Server, name string) (sql, at string) { return "create database " + name, s.As("tune", name) },
	small: func(t testing.TB, s *Server, name string, mount func(string)) string {
		s.Exec(t, "create database "+name)
		mount(filepath.Join(s.folder, "data", name))
		t.Cleanup(func() { s.Exec(t, "drop table tune_record, tune_key, tune_store, tune_writer", s.As("tune", name)) })
		return s.As("tune", name)
	},
}
