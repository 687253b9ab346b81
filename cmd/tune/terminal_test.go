package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
)

// openTerminal is a terminal of so many columns: what a user sees, and what a program writes to.
func openTerminal(t *testing.T, columns uint16) (seen, written *os.File) {
	t.Helper()
	seen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { seen.Close() })
	n, err := unix.IoctlGetInt(int(seen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(seen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	written, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { written.Close() })
	if err := unix.IoctlSetWinsize(int(written.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	return seen, written
}

var escape = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// TestATerminalShowsHowATuneGoes runs a tune with its stderr on terminals.
func TestATerminalShowsHowATuneGoes(t *testing.T) {
	wide := []string{"search ", "best ", "GCells/s, ", " % of the roofline | ", " s of search left", "trying stream/"}
	for _, c := range []struct {
		name    string
		columns uint16
		args    []string
		env     string
		signal  syscall.Signal
		want    []string
		never   *regexp.Regexp
	}{
		{"wide", 140, nil, "NO_COLOR=", 0, wide, nil},
		{"narrow", 48, nil, "NO_COLOR=", 0, []string{"search ", "trying stream/"}, nil},
		{"no colour", 140, nil, "NO_COLOR=1", 0, wide, regexp.MustCompile(`\x1b\[[0-9;]*m`)},
		{"plain", 140, []string{"--plain"}, "NO_COLOR=", 0, []string{"tune: search\r\n"}, regexp.MustCompile(`\x1b|trying`)},
		{"dumb", 140, nil, "TERM=dumb", 0, []string{"tune: search\r\n"}, regexp.MustCompile(`\x1b|trying`)},
		{"interrupted", 140, nil, "NO_COLOR=", syscall.SIGINT, wide[:1], nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seen, terminal := openTerminal(t, c.columns)
			before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			p := clitest.Command(t, clitest.StoreIn(t), append([]string{"--stencil", "jacobi3d", "--device", "replay:h200"}, c.args...)...)
			p.Cmd.Env, p.Cmd.Stderr = append(p.Cmd.Env, "TERM=xterm", c.env), terminal
			got := make(chan string)
			searching := make(chan struct{})
			go func() {
				var all bytes.Buffer
				for part := make([]byte, 4096); ; {
					n, err := seen.Read(part)
					before := bytes.Contains(all.Bytes(), []byte("search "))
					all.Write(part[:n])
					if !before && bytes.Contains(all.Bytes(), []byte("search ")) {
						close(searching)
					}
					if err != nil {
						got <- all.String()
						return
					}
				}
			}()
			if err := p.Cmd.Start(); err != nil {
				t.Fatal(err)
			}
			code := cli.OK
			if c.signal != 0 {
				select {
				case <-searching:
				case <-time.After(time.Minute):
				}
				p.Cmd.Process.Signal(c.signal)
				code = 128 + int(c.signal)
			}
			p.Cmd.Wait()
			if p.Cmd.ProcessState.ExitCode() != code && c.signal == 0 { // or it came too late
				t.Errorf("%v", p.Cmd.ProcessState)
			}
			after, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
			if err != nil || *after != *before {
				t.Errorf("the terminal is not as it was: %v\n%+v\n%+v", err, before, after)
			}
			terminal.Close()
			text := <-got
			for _, want := range c.want {
				if !strings.Contains(escape.ReplaceAllString(text, ""), want) {
					t.Errorf("no %q in\n%q", want, text)
				}
			}
			if c.never != nil && c.never.MatchString(text) {
				t.Errorf("%q", text)
			}
			if strings.Contains(text, "\x1b[?25l") && !strings.HasSuffix(text, "\x1b[?25h") {
				t.Error("the cursor stays hidden")
			}
			drawn := false
			for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
				plain := escape.ReplaceAllString(line, "")
				if strings.HasPrefix(plain, "tune: ") { // a message, which a terminal wraps
					continue
				}
				drawn = true
				if n := utf8.RuneCountInString(plain); n > int(c.columns) {
					t.Errorf("a line of %d on %d columns: %q", n, c.columns, plain)
				}
			}
			if c.never == nil && !drawn {
				t.Error("nothing was drawn")
			}
			if c.signal == 0 && !strings.Contains(text, "GCells/s (") {
				t.Errorf("the last line is missing\n%q", text)
			}
		})
	}
}
