package worker

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"regexp"
	"strings"
	"sync"
)

// maxLogged is how many lines of a child's stderr are logged; the rest is read
// and dropped.
const maxLogged = 200

// lastWords keeps of a child's stderr what explains its death: the last line, or
// where Go's runtime reports a crash, the line that says so and not the stacks
// that follow. However much the child prints, this stays small.
type lastWords struct {
	mu      sync.Mutex
	line    string
	signal  string // "SIGSEGV: segmentation violation", as the Go runtime caught it
	number  int    // 11
	crashed bool
}

// caught is how the Go runtime reports a signal that it took for a crash; the
// process then ends with exit code 2, not by the signal.
var caught = regexp.MustCompile(`^(?:\[signal )?(SIG[A-Z]+): ([a-z ]+)`)

// listen reads stderr to its end.
func (l *lastWords) listen(stderr io.Reader, log *slog.Logger) {
	r := bufio.NewReaderSize(stderr, 4<<10)
	for n := 0; ; {
		line, long, err := r.ReadLine()
		if text := oneLine(string(line)); text != "" {
			l.hear(text)
			if n++; n <= maxLogged {
				log.Debug("worker says", "line", text)
			}
		}
		for long && err == nil { // the rest of a line longer than the buffer
			_, long, err = r.ReadLine()
		}
		if err != nil {
			return
		}
	}
}

func (l *lastWords) hear(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := caught.FindStringSubmatch(text); m != nil && numbers[m[1]] != 0 && l.signal == "" {
		l.signal, l.number, l.crashed = m[1]+": "+strings.TrimSuffix(m[2], " code"), numbers[m[1]], true
		return
	}
	if !l.crashed {
		l.line = text
	}
	if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
		l.crashed = true
	}
}

// numbers are the signals by which a bad kernel or compiler ends a process.
var numbers = map[string]int{"SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGSEGV": 11}

// death says how a child ended: "(signal 11): the last line". err is what Wait returned.
func (l *lastWords) death(cmd *exec.Cmd, err error) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	how := "unknown"
	if n := killedBy(cmd.ProcessState); n != 0 {
		how = fmt.Sprintf("signal %d", n)
	} else if l.number != 0 {
		how = fmt.Sprintf("signal %d", l.number)
	} else if cmd.ProcessState != nil {
		how = fmt.Sprintf("exit code %d", cmd.ProcessState.ExitCode())
	} else if err != nil {
		how = oneLine(err.Error())
	}
	words := l.line
	if l.signal != "" {
		words = strings.TrimPrefix(words+"; "+l.signal, "; ")
	}
	if words == "" {
		return "(" + how + ")"
	}
	return "(" + how + "): " + words
}
