package emit

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
)

// pitcher is a function that reads arrays from stdin as they lie in memory, guard cells and all, and runs a pitched source on
// them in two parts, of which a graph does the first where one can be. Where one can be, grids of the extents are measured before. It writes the arrays of all fields that have the answers,
// and then those that were scratch, whose bytes were all 0xff.
func pitcher(s Source) string {
	st, e := s.Problem.Stencil, exportsOf(s)
	var before strings.Builder
	for a, p := range e.shape() {
		at := a
		if a >= st.Dims {
			at = 3 + a - st.Dims
		}
		fmt.Fprintf(&before, "  const int %s = n[%d];\n", p.Name, at)
	}
	for i, p := range e.Arrays {
		offset := "offset"
		if e.Lengths[i] != "" {
			offset = "0"
			fmt.Fprintf(&before, "  const long long %s = length[%d];\n", e.Lengths[i], i)
		}
		fmt.Fprintf(&before, "  const ELEM *%s = held[%d] + %s;\n", p.Name, i, offset)
	}
	for i, p := range e.Scalars {
		fmt.Fprintf(&before, "  const %s %s = %v;\n", p.Type, p.Name, st.Scalars[i].Default)
	}
	fields := "ELEM *const *fields = now, *const *scratch = next, **const result = now"
	if e.Single() {
		fields = "ELEM *grid = now[0], *scratch = next[0], **const result = now"
	}
	call := "NAMEGraph(ARGUMENTS, (void **)&graph) || cudaGraphLaunch(graph, 0) || cudaGraphExecDestroy(graph)"
	if st.Until != nil {
		call = "NAMEOnDevice(ARGUMENTS, 0)"
	}
	measure := ""
	if st.Until == nil {
		var names []string
		for _, p := range slices.Concat(e.arrays(), e.lists(), e.shape(), e.scalars()) {
			names = append(names, p.Name)
		}
		measure = "FIELDLIST;\n    (void)result;\n    if (NAMEMeasure(" + strings.Join(names, ", ") + ", 0)) return 6;"
		measure = strings.NewReplacer("FIELDLIST", strings.ReplaceAll(fields, "ELEM", e.Element), "NAME", s.Name).Replace(measure)
	}
	return strings.NewReplacer("MEASURE", measure, "CALL", strings.ReplaceAll(strings.ReplaceAll(call, "NAME", s.Name), "ARGUMENTS", e.GraphArguments()), "ARGUMENTS", e.GraphArguments(),
		"BEFORE", strings.ReplaceAll(before.String(), "ELEM", e.Element), "FIELDLIST", strings.ReplaceAll(fields, "ELEM", e.Element),
		"NAME", s.Name, "ELEM", e.Element, "FIELDS", fmt.Sprint(len(st.Fields)), "ARRAYS", fmt.Sprint(len(st.ReadOnly)), "UNTIL", fmt.Sprint(st.Until != nil),
	).Replace(`static int NAME_pitched(int steps, const int n[5], long long elements, int offset, const long long *length) {
  const size_t bytes = elements * sizeof(ELEM);
  std::vector<ELEM> data(elements);
  ELEM *all[2 * FIELDS], *now[FIELDS], *next[FIELDS], *held[ARRAYS + 1];
  for (int a = 0; a < 2 * FIELDS; a++) {
    cudaMalloc((void **)&all[a], bytes);
    memset(data.data(), 0xff, bytes);
    if (a < FIELDS && fread(data.data(), bytes, 1, stdin) != 1) return 2;
    cudaMemcpy(all[a], data.data(), bytes, cudaMemcpyHostToDevice);
  }
  for (int a = 0; a < ARRAYS; a++) {
    std::vector<ELEM> given(length[a]);
    if (fread(given.data(), sizeof(ELEM), length[a], stdin) != (size_t)length[a]) return 2;
    cudaMalloc((void **)&held[a], length[a] * sizeof(ELEM));
    cudaMemcpy(held[a], given.data(), length[a] * sizeof(ELEM), cudaMemcpyHostToDevice);
  }
BEFORE  for (int f = 0; f < FIELDS; f++) cudaMalloc((void **)&now[f], bytes), cudaMalloc((void **)&next[f], bytes), now[f] += offset, next[f] += offset;
  {
    MEASURE
  }
  for (int f = 0; f < FIELDS; f++) cudaFree(now[f] - offset), cudaFree(next[f] - offset), now[f] = all[f] + offset, next[f] = all[FIELDS + f] + offset;
  int iterations = steps / 3, first = 1;
  (void)first;
  if (iterations > 0) {
    cudaGraphExec_t graph;
    (void)graph;
    FIELDLIST;
    if (CALL) return 3;
    for (int f = 0, a = 0; f < FIELDS; f++, a++) { // whatever holds no answer is scratch
      while (std::find(now, now + FIELDS, all[a] + offset) != now + FIELDS) a++;
      next[f] = all[a] + offset;
    }
    first += iterations;
  }
  iterations = steps - iterations;
  FIELDLIST;
  if (NAMEOnDevice(ARGUMENTS, 0)) return 4;
  cudaDeviceSynchronize();
  for (int scratch = 0; scratch < 2; scratch++)
    for (int f = 0; f < FIELDS; f++) {
      ELEM *from = nullptr;
      if (!scratch) from = now[f] - offset;
      for (int a = 0, free = -1; scratch && free < f; a++)
        if (std::find(now, now + FIELDS, all[a] + offset) == now + FIELDS) free++, from = all[a];
      cudaMemcpy(data.data(), from, bytes, cudaMemcpyDeviceToHost);
      if (fwrite(data.data(), bytes, 1, stdout) != 1) return 5;
    }
  return 0;
}
`)
}

// pitched is how a grid lies in a larger array.
type pitched struct {
	n, ld            stencil.Size // ld: elements from row to row, rows from plane to plane
	offset, elements int          // of its first cell, and of the array
}

// pitchedOf places a grid by chance; aligned rows begin on multiples of 16 bytes. With whole planes it begins and ends with one.
func pitchedOf(r *rand.Rand, p stencil.Problem, aligned, wholePlanes bool) pitched {
	g := pitched{n: p.Size, ld: stencil.Size{p.Size[0] + r.IntN(20), p.Size[1], 1}, offset: r.IntN(40)}
	if p.Stencil.Dims == 3 {
		g.ld[1] += r.IntN(4)
	}
	if unit := 16 / p.DType.Size(); aligned {
		g.ld[0] = (g.ld[0] + unit - 1) / unit * unit
		g.offset = g.offset / unit * unit
	}
	g.elements = g.offset + ((g.n[2]-1)*g.ld[1]+g.n[1]-1)*g.ld[0] + g.n[0] + r.IntN(9)
	if wholePlanes {
		g.offset, g.elements = 0, g.n[2]*g.ld[1]*g.ld[0]
	}
	return g
}

// each calls f with the first element of each row in the array, and among the cells.
func (g pitched) each(f func(at, cell int)) {
	for z := range g.n[2] {
		for y := range g.n[1] {
			f(g.offset+(z*g.ld[1]+y)*g.ld[0], (z*g.n[1]+y)*g.n[0])
		}
	}
}

// guarded is an array of a grid's cells among guard cells, whose bytes are all 0xff.
func (g pitched) guarded(d stencil.DType, cells []float64) []byte {
	array, packed, size := bytes.Repeat([]byte{0xff}, g.elements*d.Size()), pack(d, cells), d.Size()
	g.each(func(at, cell int) { copy(array[at*size:], packed[cell*size:][:g.n[0]*size]) })
	return array
}

// cells are the grid's in an array; the error tells of a guard cell that was written.
func (g pitched) cells(d stencil.DType, array []byte) ([]byte, error) {
	size := d.Size()
	cells := make([]byte, g.n[0]*g.n[1]*g.n[2]*size)
	rest := bytes.Clone(array)
	g.each(func(at, cell int) {
		copy(cells[cell*size:], array[at*size:][:g.n[0]*size])
		copy(rest[at*size:], bytes.Repeat([]byte{0xff}, g.n[0]*size))
	})
	if i := slices.IndexFunc(rest, func(b byte) bool { return b != 0xff }); i >= 0 {
		return nil, fmt.Errorf("guard cell %d was written (first cell at %d, rows %d apart, planes %d rows)", i/size, g.offset, g.ld[0], g.ld[1])
	}
	return cells, nil
}

// run gives a program the arrays of a start and compares what it writes with the reference's answer; scratch of its arrays
// are of no other interest than their guard cells.
func (g pitched) run(p stencil.Problem, steps int, command *exec.Cmd) error {
	start := stencil.Start(p, 1)
	var in []byte
	for _, f := range start.Fields {
		in = append(in, g.guarded(p.DType, f.Floats(p.Stencil.DType))...)
	}
	for i, a := range start.ReadOnly {
		array := pack(p.DType, a.Floats(p.Stencil.DType))
		if !p.Stencil.ReadOnly[i].Indexed {
			array = g.guarded(p.DType, a.Floats(p.Stencil.DType))
		}
		in = append(in, array...)
		command.Args = append(command.Args, fmt.Sprint(len(array)/p.DType.Size()))
	}
	command.Stdin = bytes.NewReader(in)
	out, err := command.Output()
	if err != nil {
		return err
	}
	var cells []byte
	for i := 0; len(out) > 0; i++ {
		one, err := g.cells(p.DType, out[:g.elements*p.DType.Size()])
		if err != nil {
			return err
		}
		if i < len(p.Stencil.Fields) {
			cells = append(cells, one...)
		}
		out = out[g.elements*p.DType.Size():]
	}
	if u := p.Stencil.Until; u != nil {
		steps = stencil.Run(p, start, steps).Steps
	}
	if got := stencil.Judge(p, 1, steps).Compare(p.Forget(stencil.Widen(p.DType, cells))); !got.OK() {
		return fmt.Errorf("%s", got.Reason(g.n))
	}
	return nil
}

var flagPitched = flag.Int("pitched", 1, "random programs to run on pitched grids; each takes eight seconds")

// pitchedPrograms are of one stage and of two, by the number of axes.
var pitchedPrograms = map[int][2]string{
	2: {"Fields (u) ReadOnly (c) CellValue { return 0.2 * get(u, 0, 0) + 0.1 * (get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -2) + get(u, 0, 1)) + 0.3 * get(c, 0, 0); }",
		"Fields (a, b) Stages (first, second) CellValue first (b) { return 0.25 * (get(a, 1, 0) + get(a, 0, -1) + get(a, 0, 0)) + read(x % 5); } CellValue second (a) { return 0.5 * (get(b, -1, 0) + get(b, 0, 1)); }"},
	3: {"CellValue { return 0.2 * get(0, 0, 0) + 0.1 * (get(-1, 0, 0) + get(2, 0, 0) + get(0, -1, 0) + get(0, 1, 0) + get(0, 0, -1) + get(0, 0, 1)); }",
		"Fields (a, b) ReadOnly (c) Stages (first, second) CellValue first (b) { return 0.25 * (get(a, 1, 0, 0) + get(a, 0, -1, 0) + get(a, 0, 0, 1) + get(c, 0, 0, 0)); } CellValue second (a) { return 0.5 * (get(b, -1, 0, 0) + get(b, 0, 1, 0)); }"},
}

var pitchedRules = []string{"clamp", "mirror", "wrap", "constant 0.5", "fixed", "(wrap, clamp)", "x (fixed, mirror) Boundary y (clamp, constant 1)", ""}

// pitchedSchedules are of every family; those that are not legal for a program are not drawn.
var pitchedSchedules = []string{
	"global/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0", "global/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0/vx=4", "global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=64/zz=1/sp=1",
	"smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2", "smalltile/gx=32/gy=8/gz=4/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1", tiles2d + "1", tiles2d + "2",
	"slide/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=8/db=0", "slide/gx=32/gy=8/gz=2/wx=1/wy=2/wz=1/cw=0/zz=0/ws=32/db=1",
	"sweep/vx=2/vy=2/wp=4/ck=2/pf=2/mb=1", "sweep/vx=4/vy=1/wp=4/ck=1/pf=2/mb=1",
	"pipeline/vx=2/vy=2/wp=8/ck=1/pf=2/mb=1/ph=1", "pipeline/vx=2/vy=1/wp=4/ck=2/pf=2/mb=1/ph=2",
	"stream/vx=2/vy=1/wp=4/ck=4/pf=1/mb=1/ph=2", "stream/vx=4/vy=1/wp=1/ck=2/pf=2/mb=1/ph=2/pm=1", "stream/vx=1/vy=1/wp=4/ck=4/pf=2/mb=1/ph=1", "stream/vx=2/vy=4/wp=4/ck=3/pf=1/mb=1/ph=2", "stream/vx=2/vy=4/wp=4/ck=3/pf=2/mb=1/ph=1/pm=1",
}

// drawPitched draws a source under any boundary rules, and a grid for it.
func drawPitched(t *testing.T, r *rand.Rand) (Source, stencil.Problem) {
	known, err := machine.FindKnown("h200")
	if err != nil {
		t.Fatal(err)
	}
	for {
		dims, rule := 2+r.IntN(2), pitchedRules[r.IntN(len(pitchedRules))]
		boundary := "Boundary " + rule
		if rule == "" {
			boundary = "EdgeValue { return value * 0.5 + 0.01 * x; }"
		}
		text := fmt.Sprintf("NumDimensions %d StencilSize (%s) DataType %s %s %s", dims, strings.Repeat("2, ", dims-1)+"2", []string{"float", "double"}[r.IntN(2)], boundary, pitchedPrograms[dims][r.IntN(2)])
		st, err := stencil.Parse("program", "program.sl", text)
		if err != nil {
			if strings.Contains(rule, "(wrap, clamp)") { // two rules are for two axes
				continue
			}
			t.Fatalf("%s: %v", text, err)
		}
		sc := spacetest.Schedule(t, pitchedSchedules[r.IntN(len(pitchedSchedules))])
		f := kernels.Find(all.Families(), sc.Family())
		p := stencil.Problem{Stencil: st, DType: st.DType, Size: st.DefaultSize(false), Steps: 100}
		if space.New(f.Space(p, known.Machine)).Check(sc) != nil {
			continue
		}
		s := sourceOfStencil(t, st, p.DType, p.Size, sc.String(), h200)
		s.Pitched = true
		n := stencil.Size{1 + r.IntN(150), 1 + r.IntN(40), 1}
		if st.Dims == 3 {
			n[2] = 1 + r.IntN(20)
		}
		e := exportsOf(s)
		if e.Whole == "" {
			n[st.Dims-1] = max(n[st.Dims-1], 12*e.Cuts[st.Dims-1].Reach+6) // three slabs
		}
		for a, c := range e.Cuts {
			if c.Whole == "" {
				n[a] = max(n[a], 6*c.Reach+4) // boxes, three at most
			}
		}
		return s, s.Problem.Resized(f.Kernel(s.Problem, sc).Suited(n))
	}
}

const pitchedSteps = 7

// TestPitchedGridsGiveTheReferencesAnswer: grids in larger arrays, in one piece and in slabs.
func TestPitchedGridsGiveTheReferencesAnswer(t *testing.T) {
	nvcc := nvccOf(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range *flagPitched {
		s, p := drawPitched(t, r)
		st, dir, schedule := p.Stencil, t.TempDir(), s.Configs[0].Schedule.Text
		emitted(t, dir, s.Name+".h", "header", s)
		plain := sourceOfStencil(t, st, p.DType, p.Size, anySize, h200) // compiles fast
		one := s.layouts()[1]
		var text bytes.Buffer
		text.WriteString(betweenLaunches + "#include <math.h>\n#include <mutex>\n#include <new>\n#include <string.h>\n")
		if err := errors.Join(plain.launched(&text, s.Name), one.launched(&text, s.Name)); err != nil {
			t.Fatal(err)
		}
		slabs, boxes := exportsOf(one).Whole == "", exportsOf(one).NoBox() == ""
		main := pitcher(one)
		if slabs {
			main += cutter(one)
		} else {
			main += "static int " + one.Name + "_cut(int, const int *, const long long *) { return 98; }\n"
		}
		if boxes {
			main += boxer(one)
		} else {
			main += "static int " + one.Name + "_boxes(const int *, const long long *) { return 98; }\n"
		}
		write(t, dir, "emitted.cu", text.String())
		write(t, dir, "main.cpp", strings.ReplaceAll(`#include "HEADER.h"
#include <cuda_runtime.h>
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>
`+between+main+`int main(int argc, char **argv) {
  int n[5];
  long long length[8] = {0};
  for (int a = 0; a < 5; a++) n[a] = atoi(argv[2 + a]);
  for (int a = 9; a < argc; a++) length[a - 9] = atoll(argv[a]);
  if (!strcmp(argv[1], "whole")) return HEADERPitched_pitched(STEPS, n, atoll(argv[7]), atoi(argv[8]), length);
  if (!strcmp(argv[1], "boxes")) return HEADERPitched_boxes(n, length);
  return HEADERPitched_cut(!strcmp(argv[1], "apart"), n, length);
}
`, "HEADER", s.Name))
		flags := []string{"-std=c++17", "-O0", fmt.Sprintf("-DSTEPS=%d", pitchedSteps), "-o", "program", "main.cpp", "emitted.cu"}
		if os.Getenv("TUNE_NVCC") == "" { // the emulation's, which is a C++ compiler; a GPU traps by itself
			flags = append(flags, "-fsanitize=alignment", "-fsanitize-undefined-trap-on-error")
		}
		build(t, dir, nvcc, flags...)
		if boxes {
			n := []string{"boxes", fmt.Sprint(p.Size[0]), fmt.Sprint(p.Size[1]), fmt.Sprint(p.Size[2]), "0", "0", "0", "0"}
			if err := sevenSteps(p, exec.Command(filepath.Join(dir, "program"), n...)); err != nil {
				t.Errorf("%s on %s, boxes: %v\n%s", schedule, p.Text(), err, st.Text())
			}
		}
		for _, aligned := range []bool{true, false} {
			for _, mode := range []string{"whole", "slabs", "apart"} {
				if mode != "whole" && !slabs {
					continue
				}
				g := pitchedOf(r, p, aligned, mode != "whole")
				command := exec.Command(filepath.Join(dir, "program"), mode, fmt.Sprint(g.n[0]), fmt.Sprint(g.n[1]), fmt.Sprint(g.n[2]),
					fmt.Sprint(g.ld[0]), fmt.Sprint(g.ld[1]), fmt.Sprint(g.elements), fmt.Sprint(g.offset))
				if err := g.run(p, pitchedSteps, command); err != nil {
					t.Errorf("%s on %s, %s, aligned %v: %v\n%s", schedule, p.Text(), mode, aligned, err, st.Text())
				} else {
					t.Logf("%s on %s, %s, %d apart", schedule, p.Text(), mode, g.ld[0])
				}
			}
		}
	}
}

func TestPitchedGridsAreRefusedWhereNothingIsForThem(t *testing.T) {
	s := sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}, streamed, h200)
	line := sourceOf(t, "jacobi1d", stencil.Float32, stencil.Size{512, 1, 1}, anySize, h200)
	s.Pitched, line.Pitched = true, true
	for _, c := range []struct {
		s            Source
		format, want string
	}{{s, "python", "nothing for pitched grids; those that have are cu, header, fortran"}, {line, "cu", "one row of cells"}, {line, "header", "one row of cells"}} {
		if _, err := Text(c.format, c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %v, want %q", c.format, c.s.Name, err, c.want)
		}
	}
}
