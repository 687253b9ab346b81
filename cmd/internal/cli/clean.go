package cli

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// clean makes text fit for a terminal: names from foreign files and messages of compilers may
// hold sequences that a terminal obeys, or marks that turn the direction of what follows.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError) {
			return '?'
		}
		return r
	}, text)
}

// cleaner writes clean text. A character may come in parts.
type cleaner struct {
	w      io.Writer
	rest   []byte
	before func() // each write
	failed error  // the first write that did
}

func (c *cleaner) Write(p []byte) (int, error) {
	if c.before != nil {
		c.before()
	}
	text := append(c.rest, p...)
	whole := len(text)
	for i := max(0, whole-utf8.UTFMax+1); i < whole; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			whole = i
		}
	}
	c.rest = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(c.w, clean(string(text[:whole]))); err != nil {
		if c.failed == nil {
			c.failed = err
		}
		return 0, err
	}
	return len(p), nil
}

// nowhere tells whether a program was started with its standard output closed: Go opens
// /dev/null then, for reading too, which a shell's redirection does not.
func nowhere(stdout io.Writer) bool {
	f, ok := stdout.(*os.File)
	if !ok {
		return false
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(info, null)
}
