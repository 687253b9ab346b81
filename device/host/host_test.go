package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/device/host"
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

// copyProblem is the stencil whose right answer is its input, on n cells.
func copyProblem(t *testing.T, n int) stencil.Problem {
	t.Helper()
	st := stenciltest.Parse(t, "copy", "NumDimensions 1\nStencilSize (0)\nCellValue { return get(0); }")
	return stencil.Problem{Stencil: st, DType: stencil.Float32, Size: stencil.Size{n, 1, 1}, Steps: 1}
}

// copyKernel is a kernel of blocks of 64 threads whose body sees i, in, out and n.
func copyKernel(p stencil.Problem, body string) kernels.Kernel {
	s, err := space.ParseSchedule("test/gx=64")
	if err != nil {
		panic(err)
	}
	return kernels.Kernel{Schedule: s, Entry: "copy", DType: p.DType, Source: `
extern "C" __global__ void __launch_bounds__(64) copy(const float *__restrict__ in, float *__restrict__ out, int n, int ny, int nz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
` + body + "\n}\n", Launch: kernels.Launch{Grid: [3]int{(p.Size[0] + 63) / 64, 1, 1}, Block: [3]int{64, 1, 1}, SharedBytes: 1024, Steps: 1}}
}

func check(t *testing.T, d *host.Device, p stencil.Problem, k kernels.Kernel, limit time.Duration) (stencil.Comparison, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	b, err := d.Compile(context.Background(), k)
	if err != nil {
		return stencil.Comparison{}, err
	}
	defer d.Release(b)
	return d.Check(ctx, device.Check{Problem: p, Passes: []device.Pass{{Binary: b, Launch: k.Launch, Count: 3}}, Seed: 9})
}

const plain = "if (i < n) out[i] = in[i];"

// Start values of other ranges have other answers, though the stencil means the same.
func TestAnswersAreOfTheRangeThatWasStartedFrom(t *testing.T) {
	d := open(t, host.Options{})
	for _, text := range []string{"", " InputRange (5, 6)"} {
		st := stenciltest.Parse(t, "copy", "NumDimensions 1 StencilSize (0) CellValue { return get(0); }"+text)
		p := copyProblem(t, 1000)
		p.Stencil = st
		if cmp, err := check(t, d, p, copyKernel(p, plain), 20*time.Second); err != nil || !cmp.OK() {
			t.Errorf("%q: %v %s", text, err, cmp.Reason(p.Size))
		}
	}
}

func TestTheEmulationRunsCUDA(t *testing.T) {
	d := open(t, host.Options{})
	p := copyProblem(t, 1000)
	for name, body := range map[string]string{
		"plain": plain,
		"static shared memory and a barrier": `
  __shared__ float tile[64];
  tile[63 - threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = tile[63 - threadIdx.x];`,
		"dynamic shared memory": `
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  float *tile = reinterpret_cast<float *>(shared_bytes);
  tile[threadIdx.x ^ 1] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = tile[threadIdx.x ^ 1];`,
		"many barriers": `
  __shared__ int order[64];
  order[threadIdx.x] = 0;
  for (int round = 0; round < 10; round++) {
    __syncthreads();
    const int other = order[(threadIdx.x + 1) % 64];
    __syncthreads();
    order[threadIdx.x] = other + 1;
  }
  if (i < n) out[i] = order[threadIdx.x] == 10 ? in[i] : -1;`,
		"a barrier of two steps": inRing("round % 2"),
		"shuffles": `
  float v = i < n ? in[i] : 0;
  const int lane = threadIdx.x % 32;
  float up = __shfl_up_sync(~0u, v, 1), down = __shfl_down_sync(~0u, v, 1);
  const float swapped = __shfl_xor_sync(~0u, v, 1), first = __shfl_sync(~0u, v, 0);
  float back = __shfl_down_sync(~0u, up, 1);
  if (lane == 31) back = v;
  bool right = back == v && __shfl_xor_sync(~0u, swapped, 1) == v;
  right = right && (lane != 0 || first == v) && (lane != 31 || down == v) && (lane != 0 || up == v);
  if (i < n) out[i] = right ? v : -9;`,
		"votes": `
  const int lane = threadIdx.x % 32;
  const unsigned odd = __ballot_sync(~0u, lane & 1);
  const bool right = odd == 0xAAAAAAAAu && __any_sync(~0u, lane == 7) && !__all_sync(~0u, lane == 7) && __all_sync(~0u, 1);
  if (i < n) out[i] = right ? in[i] : -9;`,
		"vectors": `
  const float4 v = make_float4(1, 2, 3, 4);
  if (i < n) out[i] = v.w - v.x - v.z == 0 && sizeof(float4) == 16 ? __ldg(in + i) : -9;`,
	} {
		t.Run(name, func(t *testing.T) {
			cmp, err := check(t, d, p, copyKernel(p, body), 20*time.Second)
			if err != nil || !cmp.OK() {
				t.Errorf("%v %s", err, cmp.Reason(p.Size))
			}
		})
	}
}

// inRing is a kernel whose threads hand on a number from place to place in shared memory: they arrive when theirs is in its slot, and wait before they read.
func inRing(slot string) string {
	return strings.ReplaceAll(`
  __shared__ int ring[2][64];
  int mine = 0;
  for (int round = 0; round < 10; round++) {
    ring[SLOT][threadIdx.x] = mine;
    emulated_arrive();
    emulated_await(round % 2);
    mine = ring[SLOT][(threadIdx.x + 1) % 64] + 1;
  }
  if (i < n) out[i] = mine == 10 ? in[i] : -1;`, "SLOT", slot)
}

func TestWrongAnswersAreSeen(t *testing.T) {
	d := open(t, host.Options{})
	p := copyProblem(t, 1000)
	// The input ends, and the output begins, beside pages that nobody may touch.
	for name, c := range map[string]struct{ body, reason string }{
		"one cell off":               {"if (i < n) out[i] = in[i] + (i == 77);", "first at (77, 0, 0)"},
		"unwritten":                  {"if (i < n && i != 500) out[i] = in[i];", "got NaN"},
		"another block's cell":       {plain + " if (threadIdx.x == 63 && i + 1 < n) out[i + 1] = -9;", "two blocks write one cell"},
		"write past the end":         {plain + " if (i == 3) out[n] = 1;", "out-of-bounds"},
		"write before the beginning": {plain + " if (i == 3) out[-1] = 1;", "out-of-bounds"},
		"write far past the end":     {plain + " if (i == 3) out[n + 16000] = 1;", "out-of-bounds"},
		"read past the end":          {"const volatile float *cells = in; if (i == 3) cells[n]; " + plain, "out-of-bounds"},
		"read far before the start":  {"const volatile float *cells = in; if (i == 3) cells[-16000]; " + plain, "out-of-bounds"},
		"read past shared memory":    {"extern __shared__ __align__(16) unsigned char shared_bytes[]; volatile unsigned char *bytes = shared_bytes; if (i == 3) bytes[1024]; " + plain, "out-of-bounds"},
	} {
		t.Run(name, func(t *testing.T) {
			cmp, err := check(t, d, p, copyKernel(p, c.body), 20*time.Second)
			if fault := fmt.Sprint(err, cmp.Reason(p.Size)); err == nil && cmp.OK() || !strings.Contains(fault, c.reason) {
				t.Error(fault)
			}
		})
	}
}

func TestBadKernelsAreFailuresOfTheirSchedule(t *testing.T) {
	d := open(t, host.Options{})
	p := copyProblem(t, 1000)
	for name, c := range map[string]struct {
		body   string
		status timing.Status
		reason string
	}{
		"hang":                    {"const volatile float *cell = out; while (cell[0] != 12345.0f) {}", timing.Timeout, "deadline"},
		"crash":                   {"*(volatile int *)0 = i;", timing.LaunchError, "signal 11"},
		"does not compile":        {"this is no CUDA;", timing.CompileError, "error"},
		"divergent barrier":       {"if (threadIdx.x == 5) return; __syncthreads(); " + plain, timing.LaunchError, "divergent barrier"},
		"barrier in half a block": {"if (threadIdx.x < 32) __syncthreads(); " + plain, timing.LaunchError, "divergent barrier"},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			limit := 20 * time.Second // a busy machine must not be taken for a hang
			if c.status == timing.Timeout {
				limit = 2 * time.Second
			}
			_, err := check(t, d, p, copyKernel(p, c.body), limit)
			f := device.AsFailure(err)
			if f == nil || f.Status != c.status || !strings.Contains(f.Reason, c.reason) {
				t.Errorf("%v", err)
			}
			if took := time.Since(begin); took > 25*time.Second {
				t.Errorf("took %v", took)
			}
			if cmp, err := check(t, d, p, copyKernel(p, plain), 20*time.Second); err != nil || !cmp.OK() {
				t.Errorf("the next schedule: %v %s", err, cmp.Reason(p.Size))
			}
		})
	}
}

func TestSanitizersCatchWhatGuardsCannot(t *testing.T) {
	if testing.Short() {
		t.Skip("the sanitized build is slow")
	}
	d := open(t, host.Options{Sanitize: true})
	p := copyProblem(t, 1000)
	// A read right before an array that ends beside guarded pages; the value does not matter.
	_, err := check(t, d, p, copyKernel(p, "const volatile float *cells = in; if (i == 5) cells[-1]; "+plain), 90*time.Second)
	if f := device.AsFailure(err); f == nil || f.Status != timing.LaunchError || !strings.Contains(f.Reason+f.Log, "Sanitizer") {
		t.Errorf("%v", err)
	}
	if cmp, err := check(t, d, p, copyKernel(p, plain), 90*time.Second); err != nil || !cmp.OK() {
		t.Errorf("%v %s", err, cmp.Reason(p.Size))
	}
}

func TestACompilerThatHangsIsKilled(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // what it builds is kept for no other process
	script := filepath.Join(t.TempDir(), "slow++")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo 'slow++ 1.0' && exit\ncase \"$*\" in *runtime.cpp*) : > runtime.o; exit;; esac\nsleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := open(t, host.Options{Compiler: script})
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	begin := time.Now()
	p := copyProblem(t, 10)
	if _, err := d.Compile(ctx, copyKernel(p, plain)); err == nil {
		t.Error("no error")
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestNoCompilerIsSaidClearly(t *testing.T) {
	_, err := host.Open(host.Options{Compiler: "/nonexistent/c++"})
	if !errors.Is(err, device.ErrMissing) || !strings.Contains(err.Error(), "install g++ or clang++") {
		t.Errorf("%v", err)
	}
}

func TestSeveralKernelsShareAProgramAndNothingIsLeftBehind(t *testing.T) {
	d := open(t, host.Options{})
	p := copyProblem(t, 100)
	a, b := copyKernel(p, plain), copyKernel(p, plain)
	b.Entry, b.Source = "other", strings.Replace(b.Source, "void __launch_bounds__(64) copy(", "void __launch_bounds__(64) other(", 1)
	bs, err := d.CompileBatch(context.Background(), []kernels.Kernel{a, b})
	if err != nil {
		t.Fatal(err)
	}
	// Passes of both, and of another program, hand the grid on.
	c, err := d.Compile(context.Background(), copyKernel(p, plain))
	if err != nil {
		t.Fatal(err)
	}
	passes := []device.Pass{{Binary: bs[0], Launch: a.Launch, Count: 1}, {Binary: c, Launch: a.Launch, Count: 2}, {Binary: bs[1], Launch: b.Launch, Count: 1}}
	cmp, err := d.Check(context.Background(), device.Check{Problem: p, Passes: passes, Seed: 1})
	if err != nil || !cmp.OK() || cmp.Steps != 4 {
		t.Errorf("%v %+v", err, cmp)
	}
	policy := timing.Search()
	policy.Region, policy.MaxSamples = 1e-3, 6
	series, err := d.Time(context.Background(), device.Timing{Problem: p, Runs: passes, Policy: policy, Interleaved: true})
	if err != nil || len(series) != 3 || series[0].N < 5 || !(series[2].Median > 0) {
		t.Errorf("%v %+v", err, series)
	}
	if _, err := os.Stat(os.TempDir()); err != nil {
		t.Fatal(err)
	}
	for _, x := range append(bs, c) {
		d.Release(x)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
