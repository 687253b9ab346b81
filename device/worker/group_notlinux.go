//go:build unix && !linux

package worker

import "syscall"

// dieWithParent does nothing: the child ends when its stdin does.
func dieWithParent(*syscall.SysProcAttr) {}
