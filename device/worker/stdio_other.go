//go:build !linux

package worker

import (
	"io"
	"os"
	"os/signal"
)

// takeStdout keeps Go code from printing into the protocol; C libraries could
// still. Ctrl-C is left to the parent.
func takeStdout(w io.Writer) (io.Writer, error) {
	if f, ok := w.(*os.File); ok && f == os.Stdout {
		signal.Ignore(os.Interrupt)
		os.Stdout = os.Stderr
	}
	return w, nil
}
