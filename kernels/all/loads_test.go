package all

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/machine/machinetest"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/study/matmul"
)

// traced is a kernel whose loads are compared.
type traced struct {
	p     stencil.Problem
	k     kernels.Kernel
	loads kernels.Loads
	any   int // so many loads, one after the other, may come in any order
	// Arrays of the input, all of the grid's size, and the call of the kernel with
	// their memory in and the output's out.
	arrays int
	call   string
}

const (
	stencilCall = "%s(in, out, %d, %d, %d)"
	productCall = "%s(out, out, in, in + %[2]d * %[3]d, %[2]d, %[3]d, %[4]d)"
)

// product is the workload on C's width and height.
func product(n stencil.Size, d stencil.DType) stencil.Problem {
	return stencil.Problem{Stencil: matmul.Stencil(), DType: d, Size: n, Steps: 1}
}

// tracedKernels draws schedules of every family that describes its loads, on grids
// that cut tiles and columns: for stencils that read each point once, and products.
func tracedKernels(t *testing.T, r *rand.Rand, each int) (list []traced) {
	draw := func(f kernels.Family, large, p stencil.Problem, arrays int, call string, any func(space.Schedule) int) {
		l, ok := f.(kernels.Loader)
		if !ok {
			return
		}
		all := slices.Collect(space.New(f.Space(large, machinetest.H200())).All())
		for n := 0; n < each; {
			s := all[r.IntN(len(all))]
			loads, err := l.Loads(p, s)
			if err != nil {
				continue
			}
			list = append(list, traced{p, f.Kernel(p, s), loads, any(s), arrays, call})
			n++
		}
	}
	lopsided := stenciltest.Parse(t, "lopsided", "NumDimensions 2 StencilSize (2, 1) CellValue { return get(-2, 0) + get(1, 0) + get(0, 1); }")
	limits := [3]stencil.Size{{900, 1, 1}, {150, 40, 1}, {70, 14, 9}}
	for _, p := range []stencil.Problem{
		line(t, 0),
		catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{}),
		{Stencil: lopsided, DType: stencil.Float32, Steps: 1000},
		catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{}),
	} {
		large := p.Resized(p.Stencil.DefaultSize(false))
		for a, limit := range limits[p.Stencil.Dims-1] {
			p.Size[a] = 1 + r.IntN(limit)
		}
		for _, f := range Families() {
			draw(f, large, p, 1, stencilCall, func(s space.Schedule) int {
				if s.Family() == "global" {
					return len(p.Stencil.Points)
				}
				return 1
			})
		}
	}
	for _, f := range matmul.Families() {
		draw(f, product(stencil.Size{2048, 2048, 1}, stencil.Float32), product(stencil.Size{1 + r.IntN(50), 1 + r.IntN(20), 1}, stencil.Float32),
			2, productCall, func(s space.Schedule) int { return 1 + s.Int("sp", 0) })
	}
	return list
}

// recorderSource is the C++ program that runs the kernels and prints what they load.
func recorderSource(list []traced) string {
	var b, main strings.Builder
	b.WriteString("#include \"recorder.h\"\n")
	for i, c := range list {
		text := strings.Replace(c.k.Source, "typedef float T;", "typedef Recorded T;", 1)
		text = strings.Replace(text, "extern __shared__ __align__(16) unsigned char shared_bytes[];", "", 1)
		text = strings.Replace(text, `extern "C"`, "", 1) // one schedule may come twice
		fmt.Fprintf(&b, "namespace k%d {\n%s\n}\n", i, text)
		g, t, n := c.k.Launch.Grid, c.k.Launch.Block, c.p.Size
		call := fmt.Sprintf(c.call, c.k.Entry, n[0], n[1], n[2])
		fmt.Fprintf(&main, "  record([](const Recorded *in, Recorded *out) { k%d::%s; }, {%d, %d, %d}, {%d, %d, %d}, %d);\n",
			i, call, g[0], g[1], g[2], t[0], t[1], t[2], n.Cells()*int64(c.arrays))
	}
	return b.String() + "int main() {\n" + main.String() + "}\n"
}

// compileAndRun runs a C++ program that includes recorder.h.
func compileAndRun(t *testing.T, source string) *bufio.Scanner {
	t.Helper()
	cc := os.Getenv("CXX")
	if cc == "" {
		cc = "c++"
	}
	if _, err := exec.LookPath(cc); err != nil {
		t.Skip("no C++ compiler to run the kernels' text with")
	}
	include, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, program := filepath.Join(dir, "record.cpp"), filepath.Join(dir, "record")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-std=c++17", "-O0", "-w", "-I", include, "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(strings.NewReader(string(out)))
	s.Buffer(nil, 1<<20)
	return s
}

// The text decides: it runs here, thread by thread, on an element type that notes
// what is read.
func TestLoadsAreThoseOfTheKernelsText(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	list := tracedKernels(t, rand.New(rand.NewPCG(seed, 0)), 4)
	lines := compileAndRun(t, recorderSource(list))
	for _, c := range list {
		total := 0
		for i := range c.k.Launch.Blocks() * c.k.Launch.Threads() {
			block, thread := i/c.k.Launch.Threads(), i%c.k.Launch.Threads()
			got := slices.DeleteFunc(c.loads(block, thread, nil), func(e int64) bool { return e == kernels.Idle })
			want := scanElements(t, lines)
			total += len(want)
			for _, list := range [][]int64{got, want} {
				for part := range slices.Chunk(list, c.any) {
					slices.Sort(part)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s/%s: block %d, thread %d loads %v, want %v", c.p.Text(), c.k.Schedule, block, thread, got, want)
			}
		}
		if total == 0 {
			t.Errorf("%s/%s loads nothing", c.p.Text(), c.k.Schedule)
		}
	}
}

// scanElements reads a thread's line.
func scanElements(t *testing.T, s *bufio.Scanner) []int64 {
	t.Helper()
	if !s.Scan() {
		t.Fatalf("the program said too little: %v", s.Err())
	}
	fields := strings.Fields(s.Text())
	list := make([]int64, len(fields)-1)
	for i, f := range fields[1:] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = n
	}
	return list
}
