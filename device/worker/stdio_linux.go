package worker

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// takeStdout moves the process's stdout to a descriptor of our own and points
// the old one at stderr, so that no library can print into the protocol. A
// writer that is not the process's stdout stays as it is. Ctrl-C is left to the
// parent.
func takeStdout(w io.Writer) (io.Writer, error) {
	f, ok := w.(*os.File)
	if !ok || f.Fd() != uintptr(syscall.Stdout) {
		return w, nil
	}
	signal.Ignore(os.Interrupt)
	syscall.ForkLock.RLock() // no child of ours may inherit the copy
	fd, err := syscall.Dup(syscall.Stdout)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	if err := syscall.Dup3(syscall.Stderr, syscall.Stdout, 0); err != nil {
		return nil, os.NewSyscallError("dup3", err)
	}
	return os.NewFile(uintptr(fd), "replies"), nil
}
