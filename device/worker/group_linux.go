package worker

import "syscall"

// dieWithParent has the kernel kill the child when the thread that starts it ends.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
