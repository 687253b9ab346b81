package matmul_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/device/host"
	"stenciltune/internal/golden"
	"stenciltune/kernels"
	"stenciltune/kernels/kernelstest"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/study/matmul"
	"stenciltune/study/matmul/matmultest"
)

var flagCases = flag.Int("cases", 48, "random schedules to check")

const seed = 5

// product is the workload on C's width and height.
func product(n stencil.Size, d stencil.DType) stencil.Problem {
	return stencil.Problem{Stencil: matmul.Stencil(), DType: d, Size: n, Steps: 1}
}

// answer is a kernel that writes the reference's answer, computed here and carried
// in its text: what the judge itself is compared with.
func answer(p stencil.Problem, spoil bool) kernels.Kernel {
	start := stencil.Start(p, seed)
	want := matmul.Reference(p, start.ReadOnly[0].Float, start.ReadOnly[1].Float)
	if spoil {
		want[len(want)/2] += 0.5
	}
	var b strings.Builder
	fmt.Fprintf(&b, "typedef %s T;\n__device__ static const double want[] = {", p.DType.C())
	for _, v := range want {
		fmt.Fprintf(&b, "%.17g,", v)
	}
	entry := fmt.Sprintf("answer_%s_%dx%d_%v", p.DType.Short(), p.Size[0], p.Size[1], spoil)
	fmt.Fprintf(&b, "};\nextern \"C\" __global__ void %s(const T *, T *out, const T *, const T *, int nx, int ny, int nz) {\n"+
		"  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < (long long)nx * ny * nz) out[i] = (T)want[i];\n}\n", entry)
	return kernels.Kernel{Schedule: space.Make("answer", nil, nil), Source: b.String(), Entry: entry, DType: p.DType,
		Launch: kernels.Launch{Grid: [3]int{kernels.CeilDiv(int(p.Size.Cells()), 128), 1, 1}, Block: [3]int{128, 1, 1}, Steps: 1}}
}

func open(t *testing.T) *host.Device {
	t.Helper()
	d, err := host.Open(host.Options{})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func compile(t *testing.T, d *host.Device, ks ...kernels.Kernel) []device.Binary {
	t.Helper()
	bs, err := d.CompileBatch(context.Background(), ks)
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, device.AsFailure(err).Log)
	}
	return bs
}

func TestJudgeIsTheReference(t *testing.T) {
	d := open(t)
	for _, dtype := range matmul.DTypes() {
		for i, n := range []stencil.Size{{1, 1, 1}, {5, 3, 1}, {17, 23, 1}, {41, 9, 1}} {
			p := product(n, dtype)
			right, wrong, judge := answer(p, false), answer(p, true), matmul.Judge(p)
			bs := compile(t, d, right, wrong, judge)
			check := func(trusted kernels.Kernel, b device.Binary) stencil.Comparison {
				c, err := d.Check(context.Background(), device.Check{Problem: p, Seed: seed, Allowed: []stencil.Allowance{{Error: dtype.Epsilon() * float64(matmul.Depth(p))}},
					Passes:  []device.Pass{{Binary: bs[2], Launch: judge.Launch, Count: 2}},
					Trusted: []device.Pass{{Binary: b, Launch: trusted.Launch, Count: 2}}})
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			if c := check(right, bs[0]); !c.OK() {
				t.Errorf("%s: %s", p.Text(), c.Reason(p.Size))
			}
			if c := check(wrong, bs[1]); c.OK() {
				t.Errorf("case %d: a wrong answer passed", i)
			}
		}
	}
}

func TestRandomSchedulesGiveTheJudgesAnswer(t *testing.T) {
	d := open(t)
	cases := matmultest.Draw(t, d.Machine(), *flagCases, rand.Uint64())
	judges := map[stencil.DType]device.Binary{}
	for _, dtype := range matmul.DTypes() {
		judges[dtype] = compile(t, d, matmul.Judge(product(stencil.Size{1, 1, 1}, dtype)))[0]
	}
	const batch = 20
	for part := range slices.Chunk(cases, batch) {
		var ks []kernels.Kernel
		for _, c := range part {
			ks = append(ks, c.Kernel)
		}
		for i, b := range compile(t, d, ks...) {
			if err := matmultest.Check(context.Background(), d, part[i], b, judges[part[i].Problem.DType], seed); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestSourceIsAsReviewed(t *testing.T) {
	p := product(stencil.Size{1024, 1024, 1}, stencil.Float32)
	kernelstest.CheckSources(t, matmul.Global{}, []kernelstest.Source{
		{Golden: "global.cu", Problem: p, Schedule: "global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=32/zz=0/sp=1"},
	})
	kernelstest.CheckSources(t, matmul.Tile{}, []kernelstest.Source{
		{Golden: "tile.cu", Problem: p, Schedule: "tile/gx=32/gy=8/gz=1/wx=2/wy=4/wz=1/cw=256/zz=1/kd=16"},
	})
	golden.Check(t, "judge.cu", []byte(matmul.Judge(p).Source))
	kernelstest.CheckWaits(t, matmul.Judge(p))
}

func TestWorkCountedByHand(t *testing.T) {
	p := product(stencil.Size{128, 64, 1}, stencil.Float32)
	// 64 products deep. A thread loads 4 + 2 elements a step for 8 of C.
	g := matmul.Global{}.Work(p, spacetest.Schedule(t, "global/gx=32/gy=2/gz=1/wx=2/wy=4/wz=1/cw=0/zz=0/sp=0"))
	if g.Flops != 2*64*128*64 || g.Cells != 128*64 || g.L1Loads != 128*64/8*64*6*4 || g.L2Read != 2*8*64*(64+8)*4 || g.L2Write != 128*64*4 {
		t.Errorf("%+v", g)
	}
	// Slices of 8 rows and 64 columns, 16 deep: four of them, each after and before a barrier.
	w := matmul.Tile{}.Work(p, spacetest.Schedule(t, "tile/gx=32/gy=2/gz=1/wx=2/wy=4/wz=1/cw=0/zz=0/kd=16"))
	if w.L1Loads != 16*64*(64+8)*4 || w.Shared != 16*(64*(64+8)+64*64*6)*4 || w.Barriers != 8 || w.Launch.SharedBytes != 16*(64+8)*4 || w.Launch.Grid != [3]int{2, 8, 1} {
		t.Errorf("%+v", w)
	}
}

func TestSpacesHoldColumnsAndTheNaiveKernel(t *testing.T) {
	d := open(t)
	p := product(stencil.Size{1024, 1024, 1}, stencil.Float32)
	sp := kernels.Spaces(matmul.Families(), p, d.Machine())
	for text, legal := range map[string]bool{
		"global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0":      true,
		"global/gx=1024/gy=1/gz=1/wx=1/wy=1/wz=1/cw=32/zz=0/sp=1":   true,
		"global/gx=256/gy=2/gz=1/wx=1/wy=1/wz=1/cw=32/zz=0/sp=1":    false,
		"global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=1024/zz=0/sp=1":  false,
		"tile/gx=32/gy=8/gz=1/wx=2/wy=4/wz=1/cw=128/zz=1/kd=32":     true,
		"tile/gx=32/gy=8/gz=1/wx=2/wy=4/wz=1/cw=0/zz=1/kd=32":       false,
		"smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1":   false,
		"global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0/vx=2": false,
	} {
		if err := sp.Check(spacetest.Schedule(t, text)); (err == nil) != legal {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, f := range matmul.Families() {
		if n := len(slices.Collect(space.New(f.Space(p, d.Machine())).All())); n < 100 {
			t.Errorf("%s has %d schedules", f.Name(), n)
		}
	}
}
