package clitest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fault in its environment has a program ask before its file operations.
const fault = "STENCILTUNE_TEST_FAULT"

// operations are those that may be asked to fail, and which argument says of what: a file descriptor, or a path.
var operations = map[uint32]struct {
	name string
	path bool
}{
	unix.SYS_OPENAT: {"openat", true}, unix.SYS_MKDIRAT: {"mkdirat", true}, unix.SYS_LINKAT: {"linkat", true}, unix.SYS_RENAMEAT: {"renameat", true},
	unix.SYS_WRITE: {"write", false}, unix.SYS_PWRITE64: {"pwrite64", false}, unix.SYS_FTRUNCATE: {"ftruncate", false},
	unix.SYS_FSYNC: {"fsync", false}, unix.SYS_FDATASYNC: {"fdatasync", false},
}

// Fail runs the program so that the nth of its operations on files in a folder ends with an error, and gives its exit code and which
// operation that was: "" if there are not as many. The program may start no other.
func (p *Program) Fail(t *testing.T, folder string, n int, with syscall.Errno) (code int, what string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p.Cmd.ExtraFiles = []*os.File{w}
	p.Cmd.Env = append(p.Cmd.Env, fault+"=1")
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(20*time.Second, func() { p.Cmd.Process.Kill() }).Stop()
	w.Close()
	listener := -1
	if _, err = fmt.Fscan(r, &listener); err == nil && listener >= 0 {
		listener, err = fileOf(p.Cmd.Process.Pid, listener)
	}
	if err != nil || listener < 0 {
		p.Cmd.Process.Kill()
		p.Cmd.Wait()
		t.Skipf("the kernel lets nobody answer for it: %v", err)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		what = respond(listener, folder, n, with)
	}()
	p.Cmd.Wait()
	<-answered
	unix.Close(listener)
	return p.Cmd.ProcessState.ExitCode(), what
}

// fileOf is another process's open file.
func fileOf(pid, file int) (int, error) {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(process)
	return unix.PidfdGetfd(process, file, 0)
}

// respond answers for the kernel until the process has ended.
func respond(listener int, folder string, n int, with syscall.Errno) (what string) {
	for {
		ready := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err != nil || ready[0].Revents&unix.POLLIN == 0 {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return what
		}
		var ask notification
		if ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&ask)) != 0 {
			continue // the process is gone meanwhile
		}
		say := answer{id: ask.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		op := operations[uint32(ask.number)]
		path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", ask.pid, ask.args[0]))
		if op.path {
			path = textAt(ask.pid, ask.args[1])
		}
		if in, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(in) {
			if n--; n == 0 {
				say.errno, say.flags, what = -int32(with), 0, op.name+" "+in
			}
		}
		ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&say))
	}
}

// textAt is a path in a process's memory.
func textAt(pid uint32, at uint64) string {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return ""
	}
	defer memory.Close()
	text := make([]byte, unix.PathMax)
	k, _ := memory.ReadAt(text, int64(at))
	path, _, _ := bytes.Cut(text[:k], []byte{0})
	return string(path)
}

// In the kernel's seccomp.h.
type (
	notification struct {
		id         uint64
		pid, flags uint32
		number     int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	answer struct {
		id    uint64
		value int64
		errno int32
		flags uint32
	}
)

// failOperations has the kernel ask the test before each operation on a file, which is told through file descriptor 3 where it asks.
func failOperations() {
	if os.Getenv(fault) == "" {
		return
	}
	listener, err := listen()
	if err != nil {
		listener = -1
	}
	unix.Writev(3, [][]byte{fmt.Appendln(nil, listener)}) // a write would ask
	unix.Close(3)
}

func ioctl(fd int, request uintptr, of unsafe.Pointer) syscall.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(of))
	return e
}

// listen has all threads ask before an operation, and gives where they do. Writes of 8 bytes are the runtime's, to wake itself.
func listen() (int, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	leave := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	const number, count = 0, 16 + 2*8 // of struct seccomp_data: the operation, and the low half of its third argument
	program := []unix.SockFilter{load(number), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_WRITE, Jf: 3}, load(count), {Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: 8, Jt: 1}, leave(unix.SECCOMP_RET_ALLOW), load(number)}
	for n := range operations {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: n, Jf: 1}, leave(unix.SECCOMP_RET_USER_NOTIF))
	}
	program = append(program, leave(unix.SECCOMP_RET_ALLOW))
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	all := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH|unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(&all)))
	if e != 0 {
		return 0, e
	}
	return int(fd), nil
}
