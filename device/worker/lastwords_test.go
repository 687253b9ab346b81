package worker

import (
	"log/slog"
	"os/exec"
	"strings"
	"testing"
)

func TestLastWords(t *testing.T) {
	for _, c := range []struct{ stderr, want string }{
		{"", "(unknown)"},
		{"one\n\n  \ntwo\n", "(unknown): two"},
		{"two without an end", "(unknown): two without an end"},
		{"panic: broken\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1 +0x1\n", "(unknown): panic: broken"},
		{"panic: runtime error: invalid memory address\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x1]\n\ngoroutine 1\n",
			"(signal 11): panic: runtime error: invalid memory address; SIGSEGV: segmentation violation"},
		{"terminate called after throwing\nSIGABRT: abort\nPC=0x1 m=0 sigcode=18446744073709551610\n\ngoroutine 1\n",
			"(signal 6): terminate called after throwing; SIGABRT: abort"},
		{strings.Repeat("long ", 10000) + "\nend\n", "(unknown): end"},
		{"fatal error: out of memory\nSIGNIFICANT: not a signal\n", "(unknown): fatal error: out of memory"},
	} {
		var l lastWords
		l.listen(strings.NewReader(c.stderr), slog.New(slog.DiscardHandler))
		if got := l.death(&exec.Cmd{}, nil); got != c.want {
			t.Errorf("%.40q: got %q, want %q", c.stderr, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		" a\nb\tc\r\n":             "a b c",
		"\x1b[31mred\x1b[0m":       "[31mred [0m",
		"bad \xff utf-8":           "bad ? utf-8",
		"right\u202eleft":          "right left",
		strings.Repeat("x", 1<<20): strings.Repeat("x", maxReason-4) + " ...",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%.30q: got %.60q, want %.60q", in, got, want)
		}
	}
}
