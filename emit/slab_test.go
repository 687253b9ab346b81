package emit

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stenciltune/stencil"
)

// cutter is a function that reads fields and read-only arrays from stdin, cuts the grid into three slabs, and advances them
// by 2, 2, 2 and 1 steps. Neighbours fill ghost planes after each. With apart that is done as a program with several
// devices does it, on two streams: as soon as something is launched on the second (before_launch), nothing is in the ghost planes that is a
// number. Of a pitched source planes are read and written with what lies between rows.
func cutter(s Source) string {
	st, elem := s.Problem.Stencil, exportsOf(s).Cell
	outer := st.Dims - 1
	var extents, scalars, arrays, sizes strings.Builder
	for a, n := range []string{"n[0]", "n[1]", "n[2]"}[:st.Dims] {
		if a == outer {
			n = "slab.planes"
		}
		extents.WriteString(", " + n)
	}
	plane := []string{"n[0]", "n[1]"}[:outer]
	if s.Problem.Pitched {
		plane = []string{"n[3]", "n[4]"}[:outer]
		extents.WriteString(", " + strings.Join(plane, ", "))
	}
	for _, a := range st.Scalars {
		fmt.Fprintf(&scalars, ", %v", a.Default)
	}
	indexed := []string{"false"}
	for range st.Fields {
		sizes.WriteString("sizeof(" + elem + "), ")
	}
	for i, a := range st.ReadOnly {
		c := element(s.Problem.Stored(len(st.Fields) + i))
		sizes.WriteString("sizeof(" + c + "), ")
		fmt.Fprintf(&arrays, ", (const %s *)slab.given[%d]", c, i)
		if a.Indexed {
			fmt.Fprintf(&arrays, ", length[%d]", i)
		}
		indexed = append(indexed, fmt.Sprint(a.Indexed))
	}
	iterations := ", steps"
	if st.Iterates() {
		iterations += ", made + 1"
	}
	now, next, result := "slab.now", "slab.next", "result"
	if len(st.Fields) == 1 {
		now, next, result = "slab.now[0]", "slab.next[0]", "&result[0]"
	}
	common := extents.String() + ", BELOW, slab.above" + iterations + scalars.String()
	call := func(function, arguments string, below string) string {
		return s.Name + function + "(" + strings.ReplaceAll(arguments, "BELOW", below) + ")"
	}
	slab := now + ", " + next + arrays.String() + common + ", " + result + ", 0"
	return strings.NewReplacer("NAME", s.Name, "ELEM", elem, "SIZES", sizes.String(), "FIELDS", fmt.Sprint(len(st.Fields)), "ARRAYS", fmt.Sprint(len(st.ReadOnly)), "OUTER", fmt.Sprint(outer),
		"WRAPS", fmt.Sprint(st.Wraps(outer)), "PLANE", strings.Join(plane, " * "), "INDEXED", strings.Join(append(indexed[1:], "false"), ", "),
		"TOOFEW", call("Slab", slab, "slab.below - 1"), "SLAB", call("Slab", slab, "slab.below"), "APART", call("SlabApart", slab+", inside", "slab.below"),
	).Replace(`static int NAME_cut(int apart, const int *n, const long long *length) {
  struct {
    int below, above, planes, from; // from: of the whole grid's planes the first, ghost planes included
    ELEM *all[2 * FIELDS], *now[FIELDS], *next[FIELDS];
    unsigned char *given[ARRAYS + 1];
  } slabs[3];
  const bool indexed[ARRAYS + 1] = {INDEXED};
  const int cuts[4] = {0, n[OUTER] / 3 - 1, n[OUTER] * 2 / 3, n[OUTER]}, depth = NAMEGhost(2);
  if (NAMEGhost(-1) != -1 || NAMEGhost(6) != 3 * depth || NAMEGhost(0) != 0) return 3;
  const size_t plane = (size_t)PLANE, bytes = plane * sizeof(ELEM);
  const int planes = n[OUTER];
  const size_t stored[] = {SIZES};
  std::vector<std::vector<unsigned char>> data(FIELDS + ARRAYS);
  for (int a = 0; a < FIELDS + ARRAYS; a++) {
    data[a].resize(stored[a] * (a < FIELDS ? plane * planes : length[a - FIELDS]));
    if (fread(data[a].data(), 1, data[a].size(), stdin) != data[a].size()) return 2;
  }
  for (int i = 0; i < 3; i++) {
    auto &slab = slabs[i];
    slab.below = WRAPS || i > 0 ? depth : 0, slab.above = WRAPS || i < 2 ? depth : 0;
    slab.from = cuts[i] - slab.below, slab.planes = cuts[i + 1] - cuts[i] + slab.below + slab.above;
    for (int a = 0; a < 2 * FIELDS; a++)
      if (cudaMalloc((void **)&slab.all[a], slab.planes * bytes) || cudaMemset(slab.all[a], 0xff, slab.planes * bytes)) return 11; // what lies between rows is looked at
    for (int a = 0; a < ARRAYS; a++) cudaMalloc((void **)&slab.given[a], indexed[a] ? data[FIELDS + a].size() : slab.planes * plane * stored[FIELDS + a]);
    for (int a = 0; a < ARRAYS; a++)
      if (indexed[a]) cudaMemcpy(slab.given[a], data[FIELDS + a].data(), data[FIELDS + a].size(), cudaMemcpyHostToDevice);
    for (int f = 0; f < FIELDS; f++) slab.now[f] = slab.all[f], slab.next[f] = slab.all[FIELDS + f];
    for (int p = 0; p < slab.planes; p++)
      for (int a = 0; a < FIELDS + ARRAYS; a++)
        if (a < FIELDS || !indexed[a - FIELDS])
          cudaMemcpy((a < FIELDS ? (unsigned char *)slab.now[a] : slab.given[a - FIELDS]) + p * plane * stored[a], &data[a][(slab.from + p + planes) % planes * plane * stored[a]], plane * stored[a], cudaMemcpyHostToDevice);
  }
  cudaStream_t inside;
  if (cudaStreamCreate(&inside)) return 10;
  for (int made = 0, steps = 2; made < 7; made += steps) {
    if (made == 6) steps = 1;
    const int sent = NAMEGhost(steps);
    for (auto &slab : slabs) {
      ELEM *result[FIELDS];
      if (slab.below && made == 0 && !TOOFEW) return 4; // ghost planes are too few
      if (apart) {
        const std::vector<unsigned char> no_number(depth * bytes, 0xff);
        std::vector<unsigned char> after(depth * bytes);
        int launches = 0;
        on_another_stream = [&] {
          launches++;
          for (int a = 0; a < 2 * FIELDS; a++) {
            cudaMemcpy(slab.all[a], no_number.data(), slab.below * bytes, cudaMemcpyHostToDevice);
            cudaMemcpy(slab.all[a] + (slab.planes - slab.above) * plane, no_number.data(), slab.above * bytes, cudaMemcpyHostToDevice);
          }
        };
        if (APART) return 5;
        on_another_stream = nullptr;
        if (cudaStreamSynchronize(inside)) return 6;
        for (int a = 0; a < 2 * FIELDS && slab.below && launches; a++) { // they were not touched
          cudaMemcpy(after.data(), slab.all[a], slab.below * bytes, cudaMemcpyDeviceToHost);
          if (after != no_number) return 7;
        }
        apart += launches;
      } else if (SLAB) {
        return 8;
      }
      for (int f = 0, a = 0; f < FIELDS; f++) { // whatever holds no answer is scratch
        slab.now[f] = result[f];
        for (int used = 1; used; a += used) {
          used = 0;
          for (int g = 0; g < FIELDS; g++) used |= slab.all[a] == result[g];
        }
        slab.next[f] = slab.all[a++];
      }
    }
    for (int i = 0; i < 3; i++) // what a slab's neighbours have comes into its ghost planes
      for (int side = 0; side < 2; side++) {
        auto &slab = slabs[i], &other = slabs[(i + (side ? 1 : 2)) % 3];
        const int ghosts = side ? slab.above : slab.below;
        if (ghosts < sent || ghosts == 0) continue;
        for (int f = 0; f < FIELDS; f++) {
          const ELEM *from = other.now[f] + (side ? other.below : other.planes - other.above - sent) * plane;
          cudaMemcpy(slab.now[f] + (side ? slab.planes - slab.above : slab.below - sent) * plane, from, sent * bytes, cudaMemcpyDeviceToDevice);
        }
      }
  }
  for (int f = 0; f < FIELDS; f++)
    for (int i = 0; i < 3; i++)
      cudaMemcpy(&data[f][cuts[i] * bytes], slabs[i].now[f] + slabs[i].below * plane, (cuts[i + 1] - cuts[i]) * bytes, cudaMemcpyDeviceToHost);
  for (int f = 0; f < FIELDS; f++)
    if (fwrite(data[f].data(), bytes, planes, stdout) != (size_t)planes) return 9;
  if (apart) fprintf(stderr, "%d", apart - 1); // launches on the second stream
  return 0;
}
`)
}

// betweenLaunches begins sources whose launches are seen by before_launch, which between is.
const betweenLaunches = `#include <cuda_runtime.h>
void before_launch(cudaStream_t stream);
template <class Kernel> cudaError_t between_launches(Kernel kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
  before_launch(stream);
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
#define cudaLaunchKernel between_launches
#define cudaLaunchKernelExC(c, ...) (before_launch((c)->stream), cudaLaunchKernelExC(c, __VA_ARGS__))
`

const between = `#include <functional>
static std::function<void()> on_another_stream;
void before_launch(cudaStream_t stream) {
  if (stream && on_another_stream) on_another_stream();
}
`

// cuts are the grids that TestEmittedSourceGivesTheReferencesAnswer cuts, by source: every kind of boundary, several fields,
// stages and read-only arrays. Three have several stream tiles in each slab, one has blocks with shares.
var cuts = map[string]stencil.Size{
	"furnace_f32": {67, 50, 1}, "jacobi3d_f32": {64, 16, 91}, "acoustic3d_f32": {64, 32, 91}, "srad2_f32": {67, 50, 1}, "churn_f64": {96, 24, 1}, "ripple_u16": {64, 8, 19}, "banks_f32": {65, 61, 1}, "halves_f32": {64, 16, 91}, "heat3d_f32": {64, 16, 91},
	"jacobi1d_f32": {1000, 1, 1}, "crust_f32": {260, 50, 1}, // into boxes alone
}

// checkCuts compares what comes of a cut grid with the reference's answer.
func checkCuts(t *testing.T, program string, s Source) {
	n, found := cuts[s.Name]
	if !found {
		return
	}
	p := s.Problem.Resized(n)
	for _, mode := range []string{"boxes", "slabs", "apart"} {
		if mode != "boxes" && exportsOf(s).Whole != "" {
			break
		}
		var launches bytes.Buffer
		run := exec.Command(program, s.Name, mode, "7", fmt.Sprint(n[0]), fmt.Sprint(n[1]), fmt.Sprint(n[2]))
		run.Stderr = &launches
		if err := sevenSteps(p, run); err != nil {
			t.Errorf("%s, %s: %v", p.Text(), mode, err)
			continue
		}
		t.Logf("%s, %s %s", p.Text(), mode, &launches)
		if mode == "apart" && (launches.String() != "0") != slices.Contains([]string{"jacobi3d_f32", "acoustic3d_f32", "halves_f32", "heat3d_f32"}, s.Name) {
			t.Errorf("%s: %s launches on the second stream of schedule %s", p.Text(), &launches, s.Configs[0].Schedule.Text)
		}
	}
}

// sevenSteps gives a program a start and the elements of each read-only array, and compares what it writes with the reference's answer.
func sevenSteps(p stencil.Problem, run *exec.Cmd) error {
	start := stencil.Start(p, 1)
	var in []byte
	for a, v := range slices.Concat(start.Fields, start.ReadOnly) {
		in = append(in, pack(p.Stored(a), v.Floats(p.Stencil.DType))...)
	}
	for _, l := range p.Lengths() {
		run.Args = append(run.Args, fmt.Sprint(l))
	}
	run.Stdin = bytes.NewReader(in)
	out, err := run.Output()
	if err != nil {
		return err
	}
	if got := stencil.Judge(p, 1, 7).Compare(p.Forget(p.Widen(out))); !got.OK() {
		return errors.New(got.Reason(p.Size))
	}
	return nil
}

// TestGridsThatAreNotCut: their sources and headers say why.
func TestGridsThatAreNotCut(t *testing.T) {
	beside := filepath.Join(t.TempDir(), "beside.sl")
	write(t, filepath.Dir(beside), "beside.sl", "NumDimensions 2 StencilSize (1, 1) CellValue { return 0.5 * (get(0, -1) + get(1, 0)); } Receivers r { return get(0, 1) - get(0, 0); }")
	for _, c := range []struct{ stencil, schedule, why, box string }{
		{beside, tiles2d + "1", "receivers read beside their own cells along y", "places of sources and receivers"},
		{"jacobi1d", "global/gx=128/gy=1/gz=1/wx=2/wy=1/wz=1/cw=0/zz=0/sp=0", "its grid has one axis", ""},
		{"redblack", "global/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0", "a cell's value depends on its place along z, or on the extent there", "depends on its place along z"},
		{"testdata/drift.sl", tiles2d + "1", "Until looks at the whole grid", "Until looks at the whole grid"},
		{"testdata/crust.sl", tiles2d + "1", "its fields are stored in different types", ""},
	} {
		s := sourceOf(t, c.stencil, stencil.Float64, stencil.Size{512, 512, 512}, c.schedule, h200)
		for _, format := range []string{"cu", "header"} {
			text, err := Text(format, s)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "No "+s.Name+"Box: ") != (c.box != "") || !strings.Contains(string(text), c.box) {
				t.Errorf("%s of %s does not say rightly whether it is cut into boxes", format, c.stencil)
			}
			if !strings.Contains(string(text), "No "+s.Name+"Slab: "+c.why) || strings.Contains(string(text), s.Name+"Slab(") {
				t.Errorf("%s of %s does not say that it is not cut, or why", format, c.stencil)
			}
		}
	}
}
