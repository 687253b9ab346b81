//go:build !unix

package worker

import (
	"os"
	"os/exec"
)

// isolate does nothing where there are no process groups.
func isolate(*exec.Cmd) {}

// killGroup kills the child alone. Errors mean that it is gone.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// lowerPriority does nothing where there are no priorities.
func lowerPriority(*exec.Cmd) {}

// killedBy is 0: there are no signals.
func killedBy(*os.ProcessState) int { return 0 }
