package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSiteExamples: two tasks of the array share a tune, on a recording and a store that is a file; the job
// starts tune with flags that it has.
func TestSiteExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	tune, err := built()
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("site/slurm.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "srun"), []byte("#!/bin/sh\nexec \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+filepath.Dir(tune)+":"+os.Getenv("PATH"))
	t.Setenv("TUNE_STORE", filepath.Join(dir, "store.db"))
	t.Setenv("TUNE_DEVICE", "replay:h200")
	for _, task := range []string{"1", "2"} {
		t.Setenv("SLURM_ARRAY_TASK_ID", task)
		if out := command(t, dir, script); !strings.Contains(out, `"jacobi3d"`) {
			t.Errorf("task %s printed %s", task, out)
		}
		if _, err := os.Stat(filepath.Join(dir, "jacobi3d."+task+".json")); err != nil {
			t.Error(err)
		}
	}
	job, err := os.ReadFile("site/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	help := command(t, dir, tune, "--help")
	flags := regexp.MustCompile(`--[a-z]+`).FindAllString(regexp.MustCompile(`args: \[.*\]`).FindString(string(job)), -1)
	for _, f := range flags {
		if !strings.Contains(help, f+" ") {
			t.Errorf("tune has no flag %s", f)
		}
	}
	if len(flags) != 4 {
		t.Errorf("the job has %q", flags)
	}
}
