package cuda

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"stenciltune/device/devicetest"
	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/kernels/reduce"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/study/matmul"
	"stenciltune/study/matmul/matmultest"
)

var flagClang = flag.Int("clang-cases", 120, "random schedules to compile with clang")

// Where there is no NVRTC, clang is a second opinion on whether the sources are CUDA:
// it tells host from device functions and makes PTX, which the emulation cannot.
func TestSourcesAreCUDAForClang(t *testing.T) {
	clang := ""
	for _, name := range []string{"clang++", "clang++-19", "clang++-16", "clang++-14"} {
		if path, err := exec.LookPath(name); err == nil {
			clang = path
			break
		}
	}
	if clang == "" {
		t.Skip("clang is not installed")
	}
	m, err := replay.MachineOf("h200")
	if err != nil {
		t.Fatal(err)
	}
	header, err := filepath.Abs("testdata/clang.h")
	if err != nil {
		t.Fatal(err)
	}

	var list []kernels.Kernel
	const seed = 20261121
	n := *flagClang
	if testing.Short() {
		n = 10
	}
	for _, c := range devicetest.Cases(t, m, n, seed) {
		list = append(list, c.Kernel)
	}
	for _, c := range devicetest.CatalogueCases(t, m, max(1, n/100), seed) {
		list = append(list, c.Kernel)
	}
	for _, p := range matmultest.Draw(t, m, 10, seed) {
		list = append(list, p.Kernel, matmul.Judge(p.Problem))
	}
	st := stenciltest.Parse(t, "reduced", "NumDimensions 3 StencilSize (1, 1, 1) CellValue { return get(0, 0, 1); } Reduce max { return fabs(value - get(0, 0, 0)); } Until < 1e-3 every 2")
	for _, d := range stencil.ElementTypes() {
		list = append(list, kernels.Kernel{Entry: "compare_cells", Source: checkProgram(d)})
		if slices.Contains(st.DTypes(), d) {
			list = append(list, reduce.Kernel(stencil.Problem{Stencil: st, DType: d, Size: stencil.Size{64, 64, 64}}))
		}
	}

	dir := t.TempDir()
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, k := range list {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			file := filepath.Join(dir, fmt.Sprint(i, ".cu"))
			if err := os.WriteFile(file, []byte(k.Source), 0o600); err != nil {
				t.Error(err)
				return
			}
			cmd := exec.Command(clang, "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_80", "-std=c++17", "-O1", "-Xclang", "-target-feature", "-Xclang", "+ptx70",
				"-include", header, "-S", "-o", "-", file)
			var out, faults bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &faults
			if err := cmd.Run(); err != nil || !strings.Contains(out.String(), k.Entry) {
				t.Errorf("%s: %v\n%s", k.Schedule, err, faults.String())
			}
		})
	}
	wg.Wait()
	t.Logf("%d sources by %s", len(list), clang)
}
