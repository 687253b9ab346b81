package examples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// blocks are the commands under a heading of a page, by the paragraph above each.
func blocks(t *testing.T, page, heading string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %s", page, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	list, title := map[string]string{}, ""
	for line := range strings.Lines(section) {
		if code, found := strings.CutPrefix(line, "    "); found {
			list[title] += code
		} else if words := strings.TrimSpace(line); words != "" {
			title = words
		}
	}
	return list
}

// TestThePageOfEmitIsFollowed runs the commands of docs/emit.md as they stand there, but for what is not here: the GPU is a
// recording, nvcc and the runtime library are the emulation's, CMake has no language CUDA, and Python's grid no library.
func TestThePageOfEmitIsFollowed(t *testing.T) {
	tune, nvcc, _ := setup(t, "make")
	page := blocks(t, "../docs/emit.md", "Five minutes each")
	bin := t.TempDir()
	cxx, err := exec.LookPath("c++")
	if err != nil {
		t.Skip(err)
	}
	for name, text := range map[string]string{
		"tune": "#!/bin/bash\nexec " + tune + " \"${@/#0/replay:h200}\"\n",
		"nvcc": "#!/bin/sh\nexec " + nvcc + " \"$@\"\n",
		"c++":  "#!/bin/sh\nexec " + cxx + " \"$@\" -O0\n", // what is shown here is not speed
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("REPOSITORY", root)
	runtime := filepath.Join(filepath.Dir(nvcc), "cuda_runtime.cpp")
	command(t, bin, "c++", "-std=c++17", "-w", "-shared", "-fPIC", "-o", "libcudart.so", runtime)
	t.Setenv("LD_LIBRARY_PATH", bin)
	for _, c := range []struct{ title, tool, old, new, want string }{
		{"CMake:", "cmake", "LANGUAGES CXX CUDA", "LANGUAGES CXX", "error 0, a cell is 0.06728"},
		{"Fortran:", "gfortran", "-L/usr/local/cuda/lib64", "-L" + bin, "error           0 , a cell is   6.728"},
		{"Python, with CuPy or PyTorch:", "python3", "python3 -", "python3 -c 'import ast, jacobi3d, sys; print(len(ast.parse(sys.stdin.read()).body), jacobi3d.run.__name__)'", "5 run"},
	} {
		t.Run(c.tool, func(t *testing.T) {
			without(t, c.tool)
			text := strings.Replace(page[c.title], c.old, c.new, 1)
			if !strings.Contains(page[c.title], c.old) || text == "" {
				t.Fatalf("docs/emit.md has nothing under %q with %q", c.title, c.old)
			}
			text = strings.Replace(text, "$REPOSITORY/cmake", "$REPOSITORY/cmake -DTUNE_EMULATION="+nvcc, 1)
			cmd := exec.Command("bash", "-e")
			cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(text)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, want %q\n%s\nof\n%s", err, c.want, out, text)
			}
		})
	}
}

// TestAKernelRunsOnYourOwnData as docs/from-your-code.md says it does, against the loop of that page.
func TestAKernelRunsOnYourOwnData(t *testing.T) {
	tune, _, _ := setup(t, "make")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(tune)+":"+os.Getenv("PATH"))
	t.Setenv("REPOSITORY", root)
	text := ""
	for _, block := range blocks(t, "../docs/from-your-code.md", "Run it on your own data") {
		text += block
	}
	const nx, ny = 96, 64
	heat := make([]float64, nx*ny)
	heat[nx*32] = 1
	for range 10 {
		next := make([]float64, nx*ny)
		for i, c := range heat {
			x, y := i%nx, i/nx
			west, east, south, north := heat[y*nx+max(x-1, 0)], heat[y*nx+min(x+1, nx-1)], heat[max(y-1, 0)*nx+x], heat[min(y+1, ny-1)*nx+x]
			next[i] = c + 0.1*(west+east+south+north-4*c)
		}
		heat = next
	}
	cmd := exec.Command("bash", "-e")
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if want := fmt.Sprintf("error 0, a cell is %.6g now", heat[nx*32]); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v, want %q\n%s\nof\n%s", err, want, out, text)
	}
}
