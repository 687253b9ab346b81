package emit

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// caller is a function that runs an emitted source on what stdin holds, fields and then
// read-only arrays, and writes the fields: a consumer's view. Mode host uses the function on host
// memory, twice, device the one on device memory, a third of the steps first, with the read-only
// arrays on the device and then with those that were given before. Mode measured is device after NAMEMeasure. To stderr go the steps that a
// stencil with Until made and the number it was looked at last.
func caller(s Source) string {
	st := s.Problem.Stencil
	var extents, scalars, arrays, null, set, bytes strings.Builder
	for _, n := range []string{"n[0]", "n[1]", "n[2]"}[:st.Dims] {
		extents.WriteString(", " + n)
	}
	for _, a := range st.Scalars {
		fmt.Fprintf(&scalars, ", %v", a.Default)
	}
	for i, a := range st.ReadOnly {
		c := element(s.Problem.Stored(len(st.Fields) + i))
		fmt.Fprintf(&bytes, "sizeof(%s), ", c)
		fmt.Fprintf(&arrays, ", (const %s *)ro[%d]", c, i)
		null.WriteString(", 0")
		if a.Indexed {
			fmt.Fprintf(&arrays, ", length[%d]", i)
			null.WriteString(", 0")
		}
		name := "SetData"
		if len(st.ReadOnly) > 1 {
			name += "_" + a.Name
		}
		fmt.Fprintf(&set, "    %s%s((const %s *)given[%d], -1);\n    if (!%[1]sError()) return 9;\n", s.Name, name, c, i)
		fmt.Fprintf(&set, "    %s%s((const %s *)given[%d], (int)length[%[4]d]);\n    if (%[1]sError()) return 4;\n", s.Name, name, c, i)
		fmt.Fprintf(&set, "    %s%s(nullptr, 1);\n    if (!%[1]sError()) return 9;\n", s.Name, name) // what was given stays
	}
	if len(st.ReadOnly) == 0 {
		fmt.Fprintf(&set, "  %sSetData((const %s *)all_data, 1);\n", s.Name, element(s.dtype()))
	}
	first := []string{"", ""}
	if st.Iterates() || st.Until != nil {
		first = []string{", 1", ", 1 + third"}
	}
	looked, looks := "", ""
	if u := st.Until; u != nil {
		looked = fmt.Sprintf("made += %[1]sSteps(), last = %[1]sReduced(), ended = last %[2]s %[3]v;\n    if (last == last) reduced = last;\n", s.Name, u.Op, u.Limit)
		looks = fmt.Sprintf("    if (%sSteps() != 0 || %[1]sReduced() == %[1]sReduced()) return 10;\n", s.Name) // none after a fault
	}
	call, after := "OnDevice(FIRSTARGS, 0)", "" // the first part by a graph, where one can be
	if st.Until == nil {
		call, after = "Graph(FIRSTARGS, (void **)&graph)", "    if (cudaGraphLaunch(graph, 0) || cudaGraphExecDestroy(graph)) return 11;\n"
	}
	f, sc, result := "now", "next", "result" // as arrays of pointers
	if len(st.Fields) == 1 {
		f, sc, result = "now[0]", "next[0]", "&result[0]"
	}
	measured := ""
	if st.Until == nil {
		measured = "if (device == 2 && (NAMEMeasure(" + f + ", " + sc + arrays.String() + extents.String() + scalars.String() + ", 0) || NAMEExpected(" + extents.String()[2:] + ") <= 0)) return 13;"
	}
	e := exportsOf(s)
	data, sizes := "("+e.Cell+" *)all_data", ""
	if e.Cell == "void" {
		data = "data"
	}
	for _, c := range e.Cells {
		sizes += "sizeof(" + c + "), "
	}
	return strings.NewReplacer("MEASURED", strings.ReplaceAll(measured, "NAME", s.Name), "NAME", s.Name, "CELL", e.Cell, "DATA", data, "SIZES", sizes, "FIELDS", fmt.Sprint(len(st.Fields)), "ARRAYS", fmt.Sprint(len(st.ReadOnly)),
		"BYTES", bytes.String(), "EXTENTS", extents.String(), "SCALARS", scalars.String(), "SET", set.String(),
		"LOOKED", looked, "NOLOOK", looks,
		"FIRSTCALL", strings.ReplaceAll(s.Name+call, "FIRSTARGS", f+", "+sc+arrays.String()+extents.String()+", third"+first[0]+scalars.String()+", "+result), "LAUNCHGRAPH", after,
		"SECONDCALL", f+", "+sc+null.String()+extents.String()+", steps - third"+first[1]+scalars.String()+", "+result+", 0",
	).Replace(`#include "NAME.h"
static int NAME_main(int device, int steps, const int n[3], const long long *length) {
  int made = 0;
  double reduced = NAN, last;
  bool ended = false;
  const size_t cells = (size_t)n[0] * n[1] * n[2], sizes[FIELDS] = {SIZES};
  const size_t stored[ARRAYS + 1] = {BYTES};
  size_t bytes = 0;
  for (int f = 0; f < FIELDS; f++) bytes += cells * sizes[f];
  char *all_data = (char *)malloc(bytes);
  void *data[FIELDS];
  for (size_t f = 0, at = 0; f < FIELDS; at += cells * sizes[f++]) data[f] = all_data + at;
  void *given[ARRAYS + 1], *ro[ARRAYS + 1];
  if (fread(all_data, bytes, 1, stdin) != 1) return 2;
  for (int a = 0; a < ARRAYS; a++) {
    given[a] = malloc(length[a] * stored[a]);
    if (fread(given[a], stored[a], length[a], stdin) != (size_t)length[a]) return 2;
    cudaMalloc(&ro[a], length[a] * stored[a]);
    cudaMemcpy(ro[a], given[a], length[a] * stored[a], cudaMemcpyHostToDevice);
  }
  if (!device) {
    if (ARRAYS > 0) { // nothing is given yet
      NAME(DATA EXTENTS, 1 SCALARS);
      if (!NAMEError()) return 8;
    }
SET    NAME(DATA EXTENTS, -1 SCALARS);
    if (!NAMEError()) return 5;
NOLOOK    NAME(nullptr EXTENTS, 1 SCALARS);
    if (!NAMEError()) return 12;
    NAME(DATA EXTENTS, steps SCALARS);
    if (NAMEError()) return 3;
    LOOKED
  } else {
    const int third = steps / 3;
    CELL *all[2 * FIELDS], *now[FIELDS], *next[FIELDS], *result[FIELDS];
    for (int a = 0; a < 2 * FIELDS; a++) cudaMalloc((void **)&all[a], bytes); // any field's
    for (int f = 0; f < FIELDS; f++) now[f] = all[f], next[f] = all[FIELDS + f], cudaMemset(now[f], 0, bytes);
    MEASURED
    for (int f = 0; f < FIELDS; f++) cudaMemcpy(now[f], data[f], cells * sizes[f], cudaMemcpyHostToDevice);
    cudaGraphExec_t graph;
    (void)graph;
    if (FIRSTCALL) return 6;
LAUNCHGRAPH    LOOKED
    for (int f = 0, a = 0; f < FIELDS; f++) { // whatever holds no answer is scratch
      now[f] = result[f];
      for (int used = 1; used; a += used) {
        used = 0;
        for (int g = 0; g < FIELDS; g++) used |= all[a] == result[g];
      }
      next[f] = all[a++];
    }
SET    if (!ended) {
      if (NAMEOnDevice(SECONDCALL)) return 7;
      LOOKED
    }
    cudaDeviceSynchronize();
    for (int f = 0; f < FIELDS; f++) cudaMemcpy(data[f], result[f], cells * sizes[f], cudaMemcpyDeviceToHost);
  }
  fprintf(stderr, "%d %.17g", made, reduced);
  return fwrite(all_data, bytes, 1, stdout) != 1;
}
`)
}

// mainOf calls the callers by name.
func mainOf(sources []Source) string {
	var callers, calls strings.Builder
	for _, s := range sources {
		callers.WriteString(caller(s))
		if _, found := cuts[s.Name]; found {
			callers.WriteString(boxer(s))
			fmt.Fprintf(&calls, "  if (!strcmp(argv[1], \"%s\") && !strcmp(argv[2], \"boxes\")) return %[1]s_boxes(n, length);\n", s.Name)
			if exportsOf(s).Whole == "" {
				callers.WriteString(cutter(s))
				fmt.Fprintf(&calls, "  if (!strcmp(argv[1], \"%s\") && strlen(argv[2]) == 5) return %[1]s_cut(!strcmp(argv[2], \"apart\"), n, length);\n", s.Name)
			}
		}
		fmt.Fprintf(&calls, "  if (!strcmp(argv[1], \"%s\") && !strcmp(argv[2], \"variant\")) return puts(%[1]sVariant(%[2]s)) < 0;\n", s.Name, strings.Join([]string{"n[0]", "n[1]", "n[2]"}[:s.Problem.Stencil.Dims], ", "))
		fmt.Fprintf(&calls, "  if (!strcmp(argv[1], \"%s\")) return %[1]s_main(strcmp(argv[2], \"measured\") ? !strcmp(argv[2], \"device\") : 2, atoi(argv[3]), n, length);\n", s.Name)
	}
	return "#include <cuda_runtime.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\n#include <string.h>\n#include <vector>\n" + between + callers.String() + `int main(int argc, char **argv) {
  int n[3];
  long long length[8] = {0};
  for (int a = 0; a < 3; a++) n[a] = atoi(argv[4 + a]);
  for (int a = 7; a < argc; a++) length[a - 7] = atoll(argv[a]);
` + calls.String() + "  return 99;\n}\n"
}

// pack writes elements as a C array.
func pack(d stencil.DType, cells []float64) []byte {
	var b []byte
	order := binary.NativeEndian
	for _, v := range cells {
		switch {
		case d == stencil.Float64:
			b = order.AppendUint64(b, math.Float64bits(v))
		case d == stencil.Float32:
			b = order.AppendUint32(b, math.Float32bits(float32(v)))
		case d == stencil.BFloat16:
			b = order.AppendUint16(b, uint16(math.Float32bits(float32(v))>>16))
		case d.Plain() == stencil.Float16:
			b = order.AppendUint16(b, halves()[v])
		case d.Size() == 1:
			b = append(b, byte(int64(v)))
		case d.Size() == 2:
			b = order.AppendUint16(b, uint16(int64(v)))
		case d.Size() == 4:
			b = order.AppendUint32(b, uint32(int64(v)))
		default:
			b = order.AppendUint64(b, uint64(int64(v)))
		}
	}
	return b
}

// halves gives the bits of every float16.
var halves = sync.OnceValue(func() map[float64]uint16 {
	all := map[float64]uint16{}
	for bits := range 1 << 16 {
		raw := binary.NativeEndian.AppendUint16(nil, uint16(bits))
		all[stencil.Widen(stencil.Float16, raw)[0]] = uint16(bits)
	}
	return all
})

// small is jacobi3d whose kernels of 32-bit indices take no more than 5,000 cells.
const small = "jacobi3d of small grids"

var flagCuts = flag.Bool("cuts", false, "of whole grids none: on a GPU a process takes a second")

// TestEmittedSourceGivesTheReferencesAnswer builds emitted sources as a consumer would
// and runs them for any number of steps on grids small, odd and of the tuned kind.
func TestEmittedSourceGivesTheReferencesAnswer(t *testing.T) {
	nvcc := nvccOf(t)
	cases := []struct {
		stencil  string
		dtype    stencil.DType
		schedule string
		grids    []stencil.Size
	}{
		{"jacobi3d", stencil.Float32, streamed, []stencil.Size{{70, 33, 21}, {237, 18, 5}, {1, 1, 1}, {5, 40, 9}, {41, 25, 9}, {131, 72, 9}}},
		{small, stencil.Float64, streamed, []stencil.Size{{70, 33, 21}, {71, 33, 21}}},
		{"heat3d", stencil.Float32, "stream/vx=2/vy=2/wp=8/ck=2/pf=2/mb=1/ph=2/sm=3/pm=1", []stencil.Size{{237, 18, 31}, {70, 33, 21}, {1, 1, 1}, {140, 40, 9}}}, // blocks with shares, of any grid
		{"jacobi3d27", stencil.Float64, tiled, []stencil.Size{{65, 17, 9}, {3, 2, 1}}},
		{"jacobi2d", stencil.Float32, columned, []stencil.Size{{257, 45, 1}, {1, 7, 1}}},
		{"gaussian2d", stencil.Float32, "stream/vx=8/vy=1/wp=1/ck=2/pf=2/mb=1/ph=5/sm=3/pm=1", []stencil.Size{{515, 80, 1}, {3000, 40, 1}, {256, 130, 1}}}, // as many blocks as fill 3 SMs, of any grid
		{"jacobi2d9s", stencil.Float64, "stream/vx=2/vy=1/wp=2/ck=4/pf=1/mb=1/ph=2", []stencil.Size{{260, 50, 1}, {31, 5, 1}}},
		{"jacobi1d", stencil.Float32, "global/gx=128/gy=1/gz=1/wx=2/wy=1/wz=1/cw=0/zz=0/sp=0", []stencil.Size{{1000, 1, 1}, {1, 1, 1}}},
		{"jacobi2d9", stencil.Float16, "stream/vx=2/vy=1/wp=4/ck=4/pf=1/mb=1/ph=2", []stencil.Size{{520, 30, 1}, {33, 7, 1}, {1, 1, 1}}},
		{"jacobi2d", stencil.Float16x2, "stream/vx=8/vy=1/wp=4/ck=4/pf=1/mb=1/ph=2", []stencil.Size{{520, 30, 1}, {33, 7, 1}, {1, 1, 1}}},
		{"heat2d", stencil.BFloat16, tiles2d + "3", []stencil.Size{{64, 17, 1}, {1, 1, 1}}},
		{"hotspot2d", stencil.Float32, tiles2d + "2", []stencil.Size{{96, 24, 1}, {33, 7, 1}, {1, 1, 1}}},
		{"hotspot3d", stencil.Float32, "stream/vx=2/vy=4/wp=4/ck=3/pf=1/mb=1/ph=2", []stencil.Size{{80, 30, 9}, {33, 7, 5}, {1, 1, 1}}},
		{"srad2", stencil.Float32, "tile/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=2/fs=1", []stencil.Size{{64, 24, 1}, {33, 7, 1}, {1, 1, 1}}},
		{"acoustic3d", stencil.Float32, "stream/vx=2/vy=4/wp=8/ck=3/pf=1/mb=1/ph=1", []stencil.Size{{80, 24, 9}, {11, 7, 5}, {1, 1, 1}}},
		{"pathfinder", stencil.Int32, "smalltile/gx=64/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=3", []stencil.Size{{640, 1, 1}, {333, 1, 1}, {1, 1, 1}}},
		{"plate", stencil.Float32, "slide/gx=64/gy=4/gz=1/wx=2/wy=1/wz=1/cw=0/zz=0/ws=32/db=0", []stencil.Size{{256, 40, 1}, {33, 7, 1}, {1, 1, 1}}},
		{"plateplus", stencil.Float32, "stream/vx=2/vy=1/wp=1/ck=4/pf=1/mb=1/ph=2", []stencil.Size{{260, 50, 1}, {130, 33, 1}, {31, 5, 1}}}, // a further column of blocks
		{"life3d", stencil.Int32, "smalltile/gx=32/gy=8/gz=4/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1", []stencil.Size{{64, 24, 8}, {13, 7, 5}, {1, 1, 1}}},
		{"sum3d-i8", stencil.Int8, "global/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0/vx=4", []stencil.Size{{128, 16, 4}, {13, 7, 5}, {1, 1, 1}}},
		{"../stencil/testdata/Hotspot.sl", stencil.Float32, tiles2d + "3", []stencil.Size{{96, 24, 1}, {33, 7, 1}, {1, 1, 1}}},
		{"testdata/churn.sl", stencil.Float64, "tile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2", []stencil.Size{{96, 24, 1}, {33, 7, 1}, {1, 1, 1}}},
		{"testdata/settle.sl", stencil.Float32, tiles2d + "3", []stencil.Size{{96, 40, 1}, {33, 7, 1}, {1, 1, 1}}},
		{"testdata/settle.sl", stencil.Float64, "stream/vx=2/vy=1/wp=2/ck=4/pf=1/mb=1/ph=4", []stencil.Size{{260, 50, 1}, {31, 5, 1}}},
		{"testdata/shaken.sl", stencil.Float32, "stream/vx=2/vy=1/wp=2/ck=4/pf=1/mb=1/ph=3", []stencil.Size{{260, 50, 1}, {31, 5, 1}, {1, 1, 1}}},
		{"testdata/drift.sl", stencil.Float64, tiles2d + "1", []stencil.Size{{96, 40, 1}, {33, 7, 1}, {1, 1, 1}}},
		{"testdata/drift.sl", stencil.Float32, tiles2d + "2/fs=1", []stencil.Size{{96, 40, 1}, {33, 7, 1}, {1, 1, 1}}},
		{"testdata/wear.sl", stencil.Int32, "smalltile/gx=64/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=3", []stencil.Size{{6400, 1, 1}, {333, 1, 1}, {1, 1, 1}}},
		{"testdata/turn.sl", stencil.Float16, "smalltile/gx=64/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2", []stencil.Size{{3000, 1, 1}, {33, 1, 1}}},
		{"../examples/stencils/furnace.sl", stencil.Float32, tiles2d + "2", []stencil.Size{{96, 40, 1}, {33, 7, 1}, {1, 1, 1}}},
		{"testdata/crust.sl", stencil.Float32, "pipeline/vx=2/vy=1/wp=2/ck=4/pf=2/mb=1/ph=3", []stencil.Size{{260, 50, 1}, {31, 5, 1}, {1, 1, 1}}},
		{"testdata/halves.sl", stencil.Float32, "stream/vx=2/vy=4/wp=4/ck=3/pf=1/mb=1/ph=2", []stencil.Size{{80, 30, 9}, {33, 7, 5}, {1, 1, 1}}},
		{"testdata/dose.sl", stencil.Float64, tiles2d + "1", []stencil.Size{{95, 40, 1}}},
		{"../examples/stencils/srad.sl", stencil.Float64, "pipeline/vx=2/vy=1/wp=2/ck=4/pf=2/mb=1/ph=1", []stencil.Size{{260, 50, 1}, {31, 5, 1}}},
		{"testdata/banks.sl", stencil.Float32, tiles2d + "1", []stencil.Size{{65, 19, 1}}},
		{"testdata/ripple.sl", stencil.Uint16, "tile/gx=32/gy=4/gz=2/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1", []stencil.Size{{64, 8, 6}, {13, 7, 5}, {1, 1, 1}}},
	}
	if testing.Short() {
		cases = cases[:2]
	}
	if seed := rand.Uint64(); os.Getenv("TUNE_NVCC") == "" { // each run builds another quarter of those that nothing else is asked of
		t.Logf("seed %d", seed)
		r, some := rand.New(rand.NewPCG(seed, 0)), cases[:0:0]
		for i, c := range cases {
			_, cut := cuts[strings.TrimSuffix(filepath.Base(c.stencil), ".sl")+"_"+c.dtype.Short()]
			if i < 3 || cut || r.IntN(4) == 0 {
				some = append(some, c)
			}
		}
		cases = some
	}
	dir := t.TempDir()
	var sources []Source
	texts := [2]bytes.Buffer{*bytes.NewBufferString(betweenLaunches), *bytes.NewBufferString(betweenLaunches)} // several sources a build: CUDA's header is what takes longest
	for i, c := range cases {
		name := c.stencil
		if name == small {
			name = "jacobi3d"
		}
		s := sourceOf(t, name, c.dtype, stencil.Size{1 << 9, 1 << 9, 1 << 9}, c.schedule, h200)
		s.Name += "_" + s.Problem.DType.Short() // a stencil may come twice
		if c.stencil == small {
			s.Name += "_small"
		}
		sources = append(sources, s)
		emitted(t, dir, s.Name+".h", "header", s)
		text, err := Text("cu", s)
		if err != nil {
			t.Fatal(err)
		}
		if c.stencil == small {
			text = bytes.ReplaceAll(text, []byte("2130706432LL"), []byte("5000LL"))
		}
		texts[i%2].Write(text)
	}
	var wg sync.WaitGroup
	var objects []string
	for i := range texts {
		source := filepath.Join(dir, fmt.Sprintf("emitted%d.cu", i))
		write(t, dir, filepath.Base(source), texts[i].String())
		objects = append(objects, source+".o")
		wg.Go(func() {
			// As the host device compiles proofs: so compiling and running take least together. A real nvcc ignores the macro.
			if out, err := exec.Command(nvcc, "-std=c++17", "-O1", "-DEMULATED_PROOF", "-c", "-o", source+".o", source).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	program := filepath.Join(dir, "program")
	main := mainOf(sources)
	if n := strings.Count(main, "_boxes(n, length)"); n != len(cuts) && !testing.Short() {
		t.Errorf("%d sources are cut into boxes, of %d that were to be", n, len(cuts))
	}
	write(t, dir, "main.cpp", main)
	build(t, dir, nvcc, slices.Concat([]string{"-std=c++17", "-O0", "-o", program, "main.cpp"}, objects)...)
	for _, c := range []struct{ name, size, want string }{
		{"jacobi3d_f32", "70 33 21", "the tuned schedule"}, {"jacobi3d_f32", "237 18 5", "rows of any length"},
		{"jacobi3d_f32", "131 72 9", "tiles of another shape"},
		{"jacobi3d_f32", "5 40 9", "the naive kernel"}, {"jacobi3d_f32", "41 25 9", "narrower"}, {"jacobi3d_f64_small", "70 33 2", "the tuned schedule"},
		{"jacobi3d_f64_small", "70 33 21", "2^31 cells and more"}, {"jacobi3d_f64_small", "71 33 21", "rows of any length for grids of 2^31 cells"},
	} {
		args := append([]string{c.name, "variant", "0"}, strings.Fields(c.size)...)
		out, err := exec.Command(program, args...).Output()
		// A GPU runs as many blocks at once as it can, and may choose another.
		if err != nil || os.Getenv("TUNE_NVCC") == "" && !strings.Contains(string(out), c.want) {
			t.Errorf("%s on %s: %s, %v, want %q", c.name, c.size, out, err, c.want)
		}
	}
	for i, c := range cases {
		checkCuts(t, program, sources[i])
		if *flagCuts {
			continue
		}
		for grid, n := range c.grids {
			p := sources[i].Problem.Resized(n)
			for _, steps := range stepsOf(t, p) {
				for _, mode := range []string{"host", "device", "measured"} {
					if mode == "device" && steps == 1 {
						continue // its first part has no step
					}
					if mode == "measured" && (grid > 0 || steps != 7 || p.Stencil.Until != nil) {
						continue // of each source once, for it takes seconds
					}
					run := exec.Command(program, sources[i].Name, mode, fmt.Sprint(steps), fmt.Sprint(n[0]), fmt.Sprint(n[1]), fmt.Sprint(n[2]))
					for _, l := range p.Lengths() {
						run.Args = append(run.Args, fmt.Sprint(l))
					}
					start := stencil.Start(p, 1)
					var in []byte
					for a, v := range slices.Concat(start.Fields, start.ReadOnly) {
						in = append(in, pack(p.Stored(a), v.Floats(p.Stencil.DType))...)
					}
					var looks bytes.Buffer
					run.Stdin, run.Stderr = bytes.NewReader(in), &looks
					out, err := run.Output()
					if err != nil {
						t.Errorf("%s on %s, %s, %d steps: %v", c.schedule, p.Text(), mode, steps, err)
						continue
					}
					made := steps
					if p.Stencil.Until != nil {
						made = stencil.Run(p, start, steps).Steps
						if err := checkLooks(p, start, made, looks.String()); err != nil {
							t.Errorf("%s on %s, %s, %d steps: %v", c.schedule, p.Text(), mode, steps, err)
						}
					}
					got := stencil.Judge(p, 1, made).Compare(p.Forget(p.Widen(out)))
					if !got.OK() {
						t.Errorf("%s on %s, %s, %d steps: %s", c.schedule, p.Text(), mode, steps, got.Reason(n))
					}
				}
			}
		}
	}
}

// stepsOf are the steps to ask for: of a stencil with Until fewer than there are to a look, as
// many, and around those that end the run.
func stepsOf(t *testing.T, p stencil.Problem) []int {
	u := p.Stencil.Until
	if u == nil {
		return []int{0, 1, 7}
	}
	all := stencil.Run(p, stencil.Start(p, 1), 60)
	if want := p.Stencil.Name != "turn"; all.Until != want {
		t.Errorf("%s: Until ended a run: %v", p.Text(), all.Until)
	}
	steps := []int{0, u.Every - 1, u.Every, all.Steps - 1, all.Steps, 60}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// checkLooks compares the steps that a run made, and the number of its last look, with the
// reference's.
func checkLooks(p stencil.Problem, start stencil.Data, made int, printed string) error {
	var steps int
	var got float64
	if _, err := fmt.Sscan(printed, &steps, &got); err != nil {
		return fmt.Errorf("%q: %v", printed, err)
	}
	if steps != made {
		return fmt.Errorf("%d steps made, want %d", steps, made)
	}
	want, tolerance := math.NaN(), 2*stencil.Tolerance(p, max(made, 1))
	if p.Stencil.Reduce.Op == "sum" {
		tolerance *= float64(p.Size.Cells())
	}
	if looked := made - made%p.Stencil.Until.Every; looked > 0 {
		want = stencil.Run(p, start, looked).Reduced
	}
	if !(math.Abs(got-want) <= tolerance) && !(math.IsNaN(got) && math.IsNaN(want)) {
		return fmt.Errorf("looked at %v, want %v", got, want)
	}
	return nil
}

// TestElementTypesOfTheirOwn compiles the device's side of a source whose element type is
// declared in it, as far as a host compiler can: its __ldg must not hide CUDA's.
func TestElementTypesOfTheirOwn(t *testing.T) {
	if os.Getenv("TUNE_NVCC") != "" {
		t.Skip("nvcc compiles that side itself")
	}
	dir := t.TempDir()
	s := sourceOf(t, "heat2d", stencil.BFloat16, stencil.Size{512, 512, 1}, tiles2d+"1", h200)
	emitted(t, dir, "heat2d.cu", "cu", s)
	emitted(t, dir, "heat2d.h", "header", s)
	build(t, dir, nvccOf(t), "-D__CUDA_ARCH__=800", "-O0", "-c", "heat2d.cu")
	write(t, dir, "use.c", "#include \"heat2d.h\"\nTUNE_HEAT2D_ASSERT_ELEMENT(unsigned short);\n")
	write(t, dir, "wrong.c", "#include \"heat2d.h\"\nTUNE_HEAT2D_ASSERT_ELEMENT(float);\n")
	for _, args := range [][]string{{"cc", "-std=c99"}, {"cc", "-std=c11"}, {"c++", "-std=c++11", "-xc++"}} {
		args = append(args, "-Wall", "-Wextra", "-Werror", "-fsyntax-only")
		build(t, dir, args[0], append(args[1:], "use.c")...)
		cmd := exec.Command(args[0], append(args[1:], "wrong.c")...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("%v took a float for a bfloat16\n%s", args, out)
		}
	}
}

// TestEmittedSourcesDoNotWarn: a host compiler that is asked for all warnings has none, but for loops that it does not unroll and
// names that only the device's side uses.
func TestEmittedSourcesDoNotWarn(t *testing.T) {
	if os.Getenv("TUNE_NVCC") != "" {
		t.Skip("TestSeveralWinnersCompile looks at nvcc's")
	}
	cxx := tool(t, "c++")
	for name, schedule := range map[string]string{"hotspot3d": streamed, "srad2": tiles2d + "2/fs=1", "testdata/drift.sl": tiles2d + "1", surveyFile: "pipeline/vx=2/vy=1/wp=2/ck=4/pf=1/mb=1/ph=3"} {
		s := sourceOf(t, name, stencil.Float32, stencil.Size{512, 512, 512}, schedule, h200)
		s.Pitched = true
		text, err := Text("cu", s)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		write(t, dir, "emitted.cpp", strings.ReplaceAll(string(text), "extern __shared__ __align__(16) unsigned char shared_bytes[];", "unsigned char *const shared_bytes = emulated.shared;"))
		build(t, dir, cxx, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-variable", "-Wno-unused-but-set-variable", "-isystem", filepath.Dir(nvccOf(t)), "emitted.cpp")
	}
}
