// Package examples tests the programs below it against the host emulation.
package examples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"stenciltune/cache"
	"stenciltune/examples/shipped"
)

// built is the program, built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	tune := filepath.Join(folder, "tune")
	out, err := exec.Command("go", "build", "-o", tune, "stenciltune/cmd/tune").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return tune, nil
})

// folder is where built puts it.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", ""); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// setup builds tune and copies an example beside the shipped config, as if no GPU
// and no store were here.
func setup(t *testing.T, name string) (program, standIn, dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs")
	}
	for _, tool := range []string{"c++", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	root := t.TempDir()
	work := filepath.Join(root, "examples")
	tune, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"shipped", "program", name} {
		if err := os.CopyFS(filepath.Join(work, part), os.DirFS(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(root, "cmake"), os.DirFS("../cmake")); err != nil {
		t.Fatal(err)
	}
	nvcc, err := filepath.Abs("../device/host/emulation/nvcc")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NVCC_APPEND_FLAGS", "-O0") // what is shown here is not speed
	t.Setenv("TUNE_STORE", filepath.Join(work, "store.db"))
	t.Setenv("TUNE_LIBCUDA", filepath.Join(work, "none.so")) // no GPU, whatever is here
	return tune, nvcc, filepath.Join(work, name)
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// claim is the seconds a step that the config says: less than a millisecond.
var claim = regexp.MustCompile(`claimed (0\.000[0-9]+|[0-9.]+e-0[4-9])`)

// right runs the program on grids on which it checks its own answer.
func right(t *testing.T, program string) {
	t.Helper()
	for _, args := range [][]string{{"7", "67", "45", "29"}, {"5", "3", "2", "1"}} {
		if out := command(t, filepath.Dir(program), program, args...); !strings.Contains(out, "largest error") || !claim.MatchString(out) {
			t.Errorf("heat %v: %s", args, out)
		}
	}
}

func TestMakeExample(t *testing.T) {
	tune, nvcc, dir := setup(t, "make")
	if out := command(t, dir, "make", "TUNE="+tune, "NVCC="+nvcc); !strings.Contains(out, "takes ../shipped/jacobi3d.json: TUNE_HERE is not set") {
		t.Errorf("nothing is said of the config: %s", out)
	}
	right(t, filepath.Join(dir, "heat"))
	if out := command(t, dir, "make", "TUNE="+tune, "NVCC="+nvcc); !strings.Contains(out, "up to date") {
		t.Errorf("the second make built again: %s", out)
	}
	if out := command(t, dir, "make", "-B", "jacobi3d.json", "TUNE_HERE=1", "TUNE="+tune); !strings.Contains(out, "takes ../shipped/jacobi3d.json: tuning failed") || !strings.Contains(out, "none.so") {
		t.Errorf("tuning without a device: %s", out)
	}
}

// without skips where a build tool is missing.
func without(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("no %s here: %v", name, err)
	}
}

// otherConfig changes the schedule of the shipped config beside an example.
func otherConfig(t *testing.T, dir string) {
	t.Helper()
	was, is := "2", "4"
	if strings.Contains(string(shipped.Jacobi3D), "/pf=4/") {
		was, is = is, was
	}
	text := strings.NewReplacer("/pf="+was+"/", "/pf="+is+"/", `"pf": `+was, `"pf": `+is).Replace(string(shipped.Jacobi3D))
	if text == string(shipped.Jacobi3D) {
		t.Fatal("the shipped config has another schedule: change something else")
	}
	if err := os.WriteFile(filepath.Join(dir, "../shipped/jacobi3d.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCMakeExample builds with the shipped config, which is taken aloud, and again only if that changes.
func TestCMakeExample(t *testing.T) {
	without(t, "cmake")
	tune, nvcc, dir := setup(t, "cmake")
	build := filepath.Join(dir, "build")
	if out := command(t, dir, "cmake", "-S", ".", "-B", build, "-DTUNE="+tune, "-DTUNE_EMULATION="+nvcc); !strings.Contains(out, "takes ../shipped/jacobi3d.json, for TUNE_HERE is off") {
		t.Errorf("nothing is said of the config: %s", out)
	}
	command(t, dir, "cmake", "--build", build)
	right(t, filepath.Join(build, "heat"))
	now := time.Now().Add(5 * time.Second)
	if err := os.Chtimes(filepath.Join(dir, "../shipped/jacobi3d.json"), now, now); err != nil {
		t.Fatal(err)
	}
	if out := command(t, dir, "cmake", "--build", build); !strings.Contains(out, "takes ../shipped") || strings.Contains(out, "Generating jacobi3d") {
		t.Errorf("a config that is newer and the same: %s", out)
	}
	otherConfig(t, dir)
	now = time.Now().Add(10 * time.Second) // later than what was built meanwhile, however long that took
	if err := os.Chtimes(filepath.Join(dir, "../shipped/jacobi3d.json"), now, now); err != nil {
		t.Fatal(err)
	}
	if out := command(t, dir, "cmake", "--build", build); !strings.Contains(out, "Generating jacobi3d") || !strings.Contains(out, "changed since it was measured") {
		t.Errorf("another config: %s", out)
	}
	for _, c := range []struct{ args, want string }{
		{"-DTUNE=" + tune, "enable the language CUDA"}, // and no stand-in
		{"-DTUNE=nothing -DTUNE_EMULATION=" + nvcc, "is the path of the tune program"},
	} {
		other := t.TempDir()
		text := fmt.Sprintf("cmake_minimum_required(VERSION 3.18)\nproject(p LANGUAGES CXX)\nfind_package(TuneStencil REQUIRED PATHS %s NO_DEFAULT_PATH)\ntune_add_stencil(jacobi3d STENCIL jacobi3d FALLBACK %s)\n",
			filepath.Join(dir, "../../cmake"), filepath.Join(dir, "../shipped/jacobi3d.json"))
		if err := os.WriteFile(filepath.Join(other, "CMakeLists.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("cmake", append([]string{"-S", other, "-B", filepath.Join(other, "build")}, strings.Fields(c.args)...)...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), c.want) {
			t.Errorf("%s: %v, want %q\n%s", c.args, err, c.want, out)
		}
	}
	// There is no device: that is said, and where there is nothing to fall back to it is an error.
	if out := command(t, dir, "cmake", "-B", build, "-DTUNE_HERE=ON"); !strings.Contains(out, "tuning failed") || !strings.Contains(out, "none.so") {
		t.Errorf("tuning without a device: %s", out)
	}
}

func TestMesonExample(t *testing.T) {
	without(t, "meson")
	without(t, "ninja")
	tune, nvcc, dir := setup(t, "meson")
	if out := command(t, dir, "meson", "setup", "build", "-Dtune="+tune, "-Dnvcc="+nvcc); !strings.Contains(out, "takes ../shipped/jacobi3d.json, for tune_here is off") {
		t.Errorf("nothing is said of the config: %s", out)
	}
	command(t, dir, "ninja", "-C", "build")
	right(t, filepath.Join(dir, "build", "heat"))
	if out := command(t, dir, "ninja", "-C", "build"); !strings.Contains(out, "no work to do") {
		t.Errorf("the second build: %s", out)
	}
}

// TestExamplesOfSharedGrids shares a grid among processes of MPI, and among devices of the emulation, by the commands of README.md; both
// compare their answers with that of one. Rounds of 2 steps leave one of 1.
func TestExamplesOfSharedGrids(t *testing.T) {
	page := blocks(t, "README.md", "Without CUDA")
	for folder, c := range map[string]struct{ tool, parts string }{"mpi": {"mpicxx", " on 8 processes, 2 x 2 x 2"}, "gpus": {"make", " on 3 "}} {
		t.Run(folder, func(t *testing.T) {
			without(t, c.tool)
			tune, nvcc, dir := setup(t, folder)
			root := filepath.Join(dir, "../..")
			if err := os.CopyFS(filepath.Join(root, "device/host/emulation"), os.DirFS(filepath.Dir(nvcc))); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"} { // Open MPI's: root, and more processes than cores
				t.Setenv(name, "1")
			}
			t.Setenv("TUNE", tune)
			ran := false
			for _, text := range page {
				for line := range strings.Lines(text) {
					if !strings.HasPrefix(line, "make -C examples/"+folder+" ") {
						continue
					}
					ran = true
					if out := command(t, root, "sh", "-c", line); !strings.Contains(out, "largest difference from one") || !strings.Contains(out, c.parts) {
						t.Errorf("%s%s", line, out)
					}
				}
			}
			if !ran {
				t.Error("README.md has no command for it")
			}
		})
	}
}

// TestDriverExampleCompiles checks the C program against the header and declarations of
// the driver API. It is run on a GPU by bench/h200/examples.sh.
func TestDriverExampleCompiles(t *testing.T) {
	tune, nvcc, dir := setup(t, "driver")
	command(t, dir, tune, "emit", "--config", "../shipped/jacobi3d.json", "--format", "header", "-o", "jacobi3d.h")
	for _, std := range []string{"-std=c99", "-std=c11"} {
		command(t, dir, "cc", std, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-DTUNE_ARCH=90", "-I.", "-I"+filepath.Dir(nvcc), "heat.c")
	}
}

func TestGoExample(t *testing.T) {
	setup(t, "go")
	if out := command(t, ".", "go", "run", "./go", "--device", "host", "--size", "70x66x20"); !strings.Contains(out, "is not legal on this grid") || !strings.Contains(out, " for [512 512 512] on NVIDIA H200") {
		t.Error(out)
	}
}

// TestLibraryExample tunes from a module of its own.
func TestLibraryExample(t *testing.T) {
	t.Setenv("TUNE_STORE", filepath.Join(t.TempDir(), "store.db"))
	if out := command(t, "library", "go", "run", "."); !strings.Contains(out, "stream/vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1: 1563 GCells/s") {
		t.Error(out)
	}
}

func TestShippedConfigIsValid(t *testing.T) {
	c, err := cache.Decode(shipped.Jacobi3D)
	if err != nil || c.Stencil.Name != "jacobi3d" || c.Match.Grade != cache.Exact {
		t.Errorf("%v %+v", err, c)
	}
}
