package worker

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// schedulingOf asks /proc (proc_pid_stat(5); Documentation/scheduler/sched-stats.rst of the kernel). What it does not tell
// starves nobody.
func schedulingOf(cmd *exec.Cmd) (s scheduling) {
	at := fmt.Sprintf("/proc/%d", cmd.Process.Pid)
	if b, err := os.ReadFile(at + "/stat"); err == nil {
		_, rest, _ := strings.Cut(string(b), ") ")
		s.stopped = strings.HasPrefix(rest, "T")
	}
	threads, _ := filepath.Glob(at + "/task/*/schedstat")
	s.waited = map[string]time.Duration{}
	for _, path := range threads {
		var ran, waited int64
		if b, err := os.ReadFile(path); err == nil {
			if _, err := fmt.Sscan(string(b), &ran, &waited); err == nil {
				s.waited[path] = time.Duration(waited)
			}
		}
	}
	return s
}
