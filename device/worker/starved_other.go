//go:build !linux

package worker

import "os/exec"

// schedulingOf knows nothing.
func schedulingOf(*exec.Cmd) scheduling { return scheduling{} }
