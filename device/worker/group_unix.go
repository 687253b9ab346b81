//go:build unix

package worker

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate starts the child in a process group of its own - a Ctrl-C in the
// terminal is not for it, and killing it kills what it started - and, where the
// kernel can, has it killed when its parent ends.
func isolate(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr)
}

// killGroup kills a child's process group. Errors mean that it is gone.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// lowerPriority gives a child a processor only when nobody else wants it (nice 10): compilers
// fill them all, and the device's process, which waits for kernels by asking, must not queue
// with them. Without leave to it stays as it is.
func lowerPriority(cmd *exec.Cmd) { _ = syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, 10) }

// killedBy is the number of the signal that ended a child, 0 if none did.
func killedBy(s *os.ProcessState) int {
	if s == nil {
		return 0
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return int(w.Signal())
	}
	return 0
}
