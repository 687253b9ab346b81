// Package clitest runs a command within its own tests: the test binary is the program.
//
// It is for tests only.
package clitest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"stenciltune/device/replay"
	"stenciltune/tuner"
)

const beProgram = "STENCILTUNE_TEST_BE_PROGRAM"

// Env is what in its environment makes a test binary the program itself.
const Env = beProgram + "=1"

// Main is a TestMain: the tests, or in a child what run does with the arguments.
func Main(m *testing.M, run func() int) {
	tuner.Worker()
	if os.Getenv(beProgram) != "" {
		failOperations()
		os.Exit(run())
	}
	os.Exit(m.Run())
}

// Program is one run of the program under test.
type Program struct {
	Cmd            *exec.Cmd
	Stdout, Stderr bytes.Buffer
}

// Command is the program with these arguments, on a store.
func Command(t *testing.T, store string, args ...string) *Program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{Cmd: exec.Command(self, args...)}
	p.Cmd.Env = append(os.Environ(), Env, "TUNE_STORE="+store)
	p.Cmd.Stdout, p.Cmd.Stderr = &p.Stdout, &p.Stderr
	p.Cmd.WaitDelay = 5 * time.Second
	return p
}

// Run runs it to its end and gives its exit code.
func (p *Program) Run(t *testing.T) int {
	t.Helper()
	err := p.Cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.Cmd.ProcessState.ExitCode()
}

// StoreIn is the path of a store that is not there yet.
func StoreIn(t *testing.T) string { return filepath.Join(t.TempDir(), "store.db") }

// Landscape is the recording that a file, or part of a shipped one's name, is of.
func Landscape(t *testing.T, name string) *replay.Landscape {
	t.Helper()
	found, err := replay.Match(name)
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}
