package tuner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"stenciltune/device/cuda"
)

// ErrNoAnswer is a library that did not answer within its time.
var ErrNoAnswer = errors.New("no answer")

// Probe asks one of CUDA's libraries, "driver", "nvrtc" or "nvml", in a process of its own, and reads
// what it tells into answer: a cuda.DriverProbe, CompilerProbe or NVMLProbe. It returns when the context
// ends, whatever the library does: a process that waits for a driver may not even die when it is killed.
func Probe(ctx context.Context, what string, answer any) error {
	command, err := child("probe " + what)
	if err != nil {
		return err
	}
	cmd := command()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for the parent
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	begin := time.Now()
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
	case <-ctx.Done():
		cmd.Process.Kill()
		return fmt.Errorf("%w within %.0f s", ErrNoAnswer, time.Since(begin).Seconds())
	}
	if err != nil {
		last := strings.TrimSpace(said.String())
		if line, _, more := strings.Cut(last, "\n"); more {
			last = line
		}
		return fmt.Errorf("the process that asked it ended: %w %s", err, last)
	}
	return json.Unmarshal(out.Bytes(), answer)
}

// answerProbe is the child of Probe; its exit code.
func answerProbe(what string) int {
	answer, err := cuda.Probe(what)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(answer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
