package emit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

func TestProgramsOfAnyStencilRun(t *testing.T) {
	nvcc := nvccOf(t)
	for _, c := range []struct{ name, schedule string }{
		{"jacobi2d", "tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=2"},
		{"srad2", "global/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"},
		{"acoustic3d", "global/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"},
		{"pathfinder", "stream/vx=2/vy=1/wp=1/ck=1/pf=1/mb=1/ph=3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := stenciltest.Lookup(t, c.name)
			s := spacetest.Schedule(t, c.schedule)
			p := stencil.Problem{Stencil: st, DType: st.DType, Size: stencil.Size{200, 1, 1}, Steps: 10}
			for a := 1; a < st.Dims; a++ {
				p.Size[a] = 9
			}
			dir := t.TempDir()
			source, program := filepath.Join(dir, "k.cu"), filepath.Join(dir, "k")
			if err := os.WriteFile(source, Program(p, kernels.Find(all.Families(), s.Family()).Kernel(p, s)), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(nvcc, "-O0", "-o", program, source).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out, err := exec.Command(program, "5").CombinedOutput()
			if err != nil || !regexp.MustCompile(`^`+s.Family()+`/\S+: [0-9.]+ ms a launch, [0-9.]+ GCells/s\n$`).Match(out) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// nvcc also reads kernels as the host's, where a type of 16 bits has no loads of its own unless some are declared.
func TestProgramsDeclareTheLoadsOfTheirTypes(t *testing.T) {
	s := spacetest.Schedule(t, "stream/vx=8/vy=1/wp=1/ck=1/pf=1/mb=1/ph=1")
	st := stenciltest.Lookup(t, "jacobi2d")
	for _, d := range []stencil.DType{stencil.Float16, stencil.Float32} {
		p := stencil.Problem{Stencil: st, DType: d, Size: stencil.Size{512, 9, 1}, Steps: 10}
		k := kernels.Find(all.Families(), s.Family()).Kernel(p, s)
		if got := bytes.Contains(Program(p, k), []byte(hostLoads)); got != (d == stencil.Float16) {
			t.Errorf("%v: loads are declared for the host: %v", d, got)
		}
	}
}
