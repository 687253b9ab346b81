package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"regexp"
	"strconv"
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
	t.Run("hostile rows", func(t *testing.T) { hostileRows(t, server, at, file, first) })
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

// hostileRows puts rows into a database that no tune writes, some with a right checksum: every command that reads says it in
// one line without what a terminal obeys, and the sound answer stays the answer.
func hostileRows(t *testing.T, server *dbtest.Server, at, sound, answer string) {
	_, text, _ := tune(t, at, "store", "export")
	var line struct {
		Key    string
		Config json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		t.Fatal(err)
	}
	row := func(part, key, name, payload string) {
		sum := crc32.Checksum([]byte(part+"\x00"+key+"\x00"+name+"\x00"+payload), crc32.MakeTable(crc32.Castagnoli))
		raw := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte{1}, uint32(len(payload))), sum)
		server.Exec(t, fmt.Sprintf(`insert into tune_key (text) values (convert_from('\x%x', 'UTF8')) on conflict do nothing;
			insert into tune_record (key, part, name, value) select id, '%s', convert_from('\x%x', 'UTF8'), '\x%x' from tune_key where text = convert_from('\x%x', 'UTF8')`,
			key, part, name, append(raw, payload...), key), at)
	}
	odd := "\x1b[2J\x1b]0;owned\a\u202e\u009b2J\nforged"
	seconds := regexp.MustCompile(`"measured":{"seconds_per_step":[^,]*`)
	faster := func(size string) string { // than all, on another size
		config := strings.Replace(string(line.Config), `"size":[512,512,512]`, `"size":`+size, 1)
		return seconds.ReplaceAllString(config, `"measured":{"seconds_per_step":1e-310`)
	}
	row("best", strings.Replace(line.Key, "512x512x512", "640x512x512", 1), "", faster("[640,512,512]"))
	row("best", strings.Replace(line.Key, "512x512x512", "384x512x512", 1), "", string(line.Config))
	row("best", odd, "", odd)
	row("best", strings.Replace(line.Key, "NVIDIA H200", strings.Trim(strconv.QuoteToASCII(odd), `"`), 1), "", string(line.Config))
	journal := `{"schedule":"global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0","source_hash":"00","status":"ok","series":{"samples":[1e-310]},"at":"2026-01-02T03:04:05Z"}`
	row("journal", line.Key, "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0 00", journal)
	row("journal", line.Key, odd, odd)
	name, _ := json.Marshal(odd)
	row("workers", line.Key, odd, `{"worker":`+string(name)+`,"phase":"search","best_time":1e-310}`)
	obeyed := "\x1b\a\u009b\u202e"
	for _, args := range append(readers(t, sound), []string{"status"}, []string{"status", "--json"}, []string{"best", "--stencil", "jacobi3d", "--device", "h200", "--size", "650x512x512"}) {
		code, out, stderr := tune(t, at, args...)
		answered := args[0] != "store" && code == cli.OK
		if code != cli.StoreCorrupt && !answered || strings.Count(stderr, "damaged records") != 1 {
			t.Errorf("tune %s: exit %d\n%q", strings.Join(args, " "), code, stderr)
		}
		if strings.ContainsAny(out+stderr, obeyed) || strings.Contains(out+stderr, "\nforged") || strings.Contains(out, "e-310") {
			t.Errorf("tune %s:\n%q\n%q", strings.Join(args, " "), out, stderr)
		}
		if args[0] == "best" && len(args) == 5 && out != answer {
			t.Errorf("another answer:\n%s", out)
		}
	}
}
