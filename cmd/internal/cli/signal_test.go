package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

const beDeaf = "STENCILTUNE_TEST_BE_DEAF"

// TestDeaf is no test: it is a program that is told to stop and does not.
func TestDeaf(t *testing.T) {
	if os.Getenv(beDeaf) == "" {
		t.Skip("a part of TestASecondSignalEndsTheProgramAtOnce")
	}
	ctx, _, stop := withSignals(context.Background())
	defer stop()
	fmt.Println("begun")
	<-ctx.Done()
	fmt.Println("told")
	time.Sleep(time.Minute)
}

func TestASecondSignalEndsTheProgramAtOnce(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		c := exec.Command(os.Args[0], "-test.run", "^TestDeaf$")
		c.Env = append(os.Environ(), beDeaf+"=1")
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.Process.Kill()
		told := false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if lines.Text() != "begun" && lines.Text() != "told" {
				continue
			}
			if told = lines.Text() == "told"; told {
				time.Sleep(50 * time.Millisecond) // the program sleeps by now
			}
			if err := c.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
		err = c.Wait()
		var exit *exec.ExitError
		if !told || !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != signal {
			t.Errorf("%v: told %v, %v", signal, told, err)
		}
	}
}
