package emit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stenciltune/stencil"
)

// nvccOf is the compiler for emitted sources: $TUNE_NVCC, which a GPU machine sets to
// the real one, else the emulation's stand-in.
func nvccOf(t *testing.T) string {
	if nvcc := os.Getenv("TUNE_NVCC"); nvcc != "" {
		return nvcc
	}
	tool(t, "c++")
	path, err := filepath.Abs("../device/host/emulation/nvcc")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// caller is a program that advances a grid it reads from stdin: a consumer's view of an
// emitted source.
func caller(s Source) string {
	elem, dims := element(s.dtype()), s.Problem.Stencil.Dims
	args := strings.Join([]string{"n[0]", "n[1]", "n[2]"}[:dims], ", ")
	return fmt.Sprintf(`#include <stdio.h>
#include <stdlib.h>
#include "%[1]s.h"
int main(int argc, char **argv) {
  int n[3] = {1, 1, 1};
  for (int a = 0; a < %[3]d; a++) n[a] = atoi(argv[2 + a]);
  const size_t cells = (size_t)n[0] * n[1] * n[2];
  %[2]s *data = (%[2]s *)malloc(cells * sizeof(%[2]s));
  if (fread(data, sizeof(%[2]s), cells, stdin) != cells) return 2;
  %[1]sSetData(data, 1);
  %[1]s(data, %[4]s, atoi(argv[1]));
  if (%[1]sError()) return 3;
  return fwrite(data, sizeof(%[2]s), cells, stdout) != cells;
}
`, s.Name, elem, dims, args)
}

// pack writes cells as a C array and unpack reads one.
func pack(t *testing.T, d stencil.DType, cells []float64) []byte {
	t.Helper()
	var b []byte
	var err error
	if d == stencil.Float64 {
		b, err = binary.Append(b, binary.NativeEndian, cells)
	} else {
		single := make([]float32, len(cells))
		for i, v := range cells {
			single[i] = float32(v)
		}
		b, err = binary.Append(b, binary.NativeEndian, single)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unpack(t *testing.T, d stencil.DType, raw []byte) []float64 {
	t.Helper()
	cells := make([]float64, len(raw)/d.Size())
	if d == stencil.Float64 {
		if _, err := binary.Decode(raw, binary.NativeEndian, cells); err != nil {
			t.Fatal(err)
		}
		return cells
	}
	single := make([]float32, len(cells))
	if _, err := binary.Decode(raw, binary.NativeEndian, single); err != nil {
		t.Fatal(err)
	}
	for i, v := range single {
		cells[i] = float64(v)
	}
	return cells
}

// TestEmittedSourceGivesTheReferencesAnswer builds emitted sources as a consumer would
// and runs them for any number of steps on grids small, odd and of the tuned kind.
func TestEmittedSourceGivesTheReferencesAnswer(t *testing.T) {
	nvcc := nvccOf(t)
	cases := []struct {
		stencil  string
		dtype    stencil.DType
		tuned    stencil.Size
		schedule string
		grids    []stencil.Size
	}{
		{"jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}, streamed, []stencil.Size{{70, 33, 21}, {71, 33, 21}, {1, 1, 1}, {5, 40, 9}}},
		{"jacobi3d27", stencil.Float64, stencil.Size{256, 256, 256}, tiled, []stencil.Size{{65, 17, 9}, {3, 2, 1}}},
		{"jacobi2d", stencil.Float32, stencil.Size{8192, 8192, 1}, columned, []stencil.Size{{257, 45, 1}, {1, 7, 1}}},
		{"jacobi2d9s", stencil.Float64, stencil.Size{4096, 4096, 1}, "stream/vx=2/vy=1/wp=2/ck=4/pf=1/mb=1/ph=2", []stencil.Size{{260, 50, 1}, {31, 5, 1}}},
		{"jacobi1d", stencil.Float32, stencil.Size{1 << 20, 1, 1}, "global/gx=128/gy=1/gz=1/wx=2/wy=1/wz=1/cw=0/zz=0/sp=0", []stencil.Size{{1000, 1, 1}, {1, 1, 1}}},
	}
	if testing.Short() {
		cases = cases[:1]
	}
	dir := t.TempDir()
	slots := make(chan struct{}, 2)
	var wg sync.WaitGroup
	for _, c := range cases {
		s := sourceOf(t, c.stencil, c.dtype, c.tuned, c.schedule, h200)
		emitted(t, dir, s.Name+".cu", "cu", s)
		emitted(t, dir, s.Name+".h", "header", s)
		write(t, dir, s.Name+"_main.cpp", caller(s))
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			program := filepath.Join(dir, s.Name)
			cmd := exec.Command(nvcc, "-std=c++17", "-I"+dir, "-o", program, filepath.Join(dir, s.Name+".cu"), filepath.Join(dir, s.Name+"_main.cpp"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", c.schedule, err, out)
				return
			}
			for _, n := range c.grids {
				for _, steps := range []int{0, 1, 7} {
					p := s.Problem.Resized(n)
					in := stencil.Fill(1, n.Cells())
					args := []string{fmt.Sprint(steps)}
					for a := range p.Stencil.Dims {
						args = append(args, fmt.Sprint(n[a]))
					}
					run := exec.Command(program, args...)
					run.Stdin = bytes.NewReader(pack(t, c.dtype, in))
					out, err := run.Output()
					if err != nil {
						t.Errorf("%s on %s, %d steps: %v", c.schedule, p.Text(), steps, err)
						continue
					}
					got := stencil.Compare(unpack(t, c.dtype, out), stencil.Reference(p, in, steps), stencil.Tolerance(p, max(steps, 1)))
					if !got.OK() {
						t.Errorf("%s on %s, %d steps: %s", c.schedule, p.Text(), steps, got.Reason(n))
					}
				}
			}
			if err := exec.Command(program, append([]string{"-1"}, strings.Fields(strings.ReplaceAll(c.grids[0].Text(s.Problem.Stencil.Dims), "x", " "))...)...).Run(); err == nil {
				t.Errorf("%s took -1 steps", c.schedule)
			}
		})
	}
	wg.Wait()
}
