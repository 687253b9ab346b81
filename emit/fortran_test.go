package emit

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/stencil"
)

// fortranCaller advances a grid in which one cell is 7 by a step of the mean of seven points, and says what came of it.
const fortranCaller = `program caller
  use, intrinsic :: iso_c_binding
  use jacobi3d_tuned
  implicit none
  real(c_float) :: grid(70, 33, 21)
  character(kind=c_char), pointer :: text(:)
  grid = 0
  grid(40, 9, 5) = 7
  call jacobi3d_run(grid, 70, 33, 21, 1)
  if (jacobi3d_error() /= 0) stop 1
  call c_f_pointer(jacobi3d_variant(70, 33, 21), text, [6])
  print '(5F5.2, 1X, 6A)', grid(40, 9, 5), grid(41, 9, 5), grid(40, 8, 5), grid(40, 9, 6), sum(grid), text
end program caller
`

func TestFortranModuleCallsTheEmittedSource(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("no Fortran compiler: gfortran")
	}
	dir := t.TempDir()
	var objects []string
	for _, s := range []Source{
		sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}, streamed, h200),
		sourceOf(t, "hotspot3d", stencil.Float64, stencil.Size{512, 512, 512}, "stream/vx=2/vy=4/wp=4/ck=3/pf=1/mb=1/ph=2", h200),
		sourceOf(t, "acoustic3d", stencil.Float32, stencil.Size{512, 512, 512}, "stream/vx=2/vy=4/wp=8/ck=3/pf=1/mb=1/ph=1", h200),
		sourceOf(t, "testdata/drift.sl", stencil.Float64, stencil.Size{512, 512, 1}, tiles2d+"1", h200),
	} {
		emitted(t, dir, s.Name+".f90", "fortran", s)
		build(t, dir, "gfortran", "-Wall", "-Werror", "-std=f2008", "-c", s.Name+".f90")
		if s.Name == "jacobi3d" {
			emitted(t, dir, s.Name+".cu", "cu", s)
			build(t, dir, nvccOf(t), "-std=c++17", "-O0", "-c", "-o", s.Name+".o", s.Name+".cu")
			objects = append(objects, filepath.Join(dir, s.Name+".o"))
		}
	}
	write(t, dir, "caller.f90", fortranCaller)
	build(t, dir, "gfortran", "-c", "caller.f90")
	program := filepath.Join(dir, "caller")
	build(t, dir, nvccOf(t), append([]string{"-o", program, "caller.o", "-lgfortran"}, objects...)...)
	out, err := exec.Command(program).Output()
	if got := strings.Fields(string(out)); err != nil || strings.Join(got, " ") != "1.00 1.00 1.00 1.00 7.00 stream" {
		t.Errorf("%v, %v", got, err)
	}
}

// Names that Fortran cannot have, or cannot tell apart, are changed.
func TestFortranNames(t *testing.T) {
	taken := fortranNames{}
	for _, c := range [][2]string{{"nx", "nx"}, {"NX", "nx_"}, {"_Rx", "rx"}, {"rx", "rx_"}, {"_", "s"}, {strings.Repeat("a", 70), strings.Repeat("a", longestFortran)}} {
		if got := taken.of(c[0]); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
	s := sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}, streamed, h200)
	s.Name = strings.Repeat("n", 60)
	if _, err := Text("fortran", s); err == nil || !strings.Contains(err.Error(), "--name") {
		t.Errorf("a name too long: %v", err)
	}
}

// TestFortranTakesTheLongestNames: of ten arrays' setters too, and of a file's names that differ in their case alone from a parameter's.
func TestFortranTakesTheLongestNames(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("no Fortran compiler: gfortran")
	}
	dir := t.TempDir()
	write(t, dir, "wide.sl", "NumDimensions 2 StencilSize (1, 1) DataType float ReadOnly (a, b, c, d, e, f, g, h, i, j) ScalarVariables (float Inside, float Edges, float Apart, float from_plane, float planes) CellValue { return get(1, 0) * Inside + Edges * get(0, 1) + Apart + planes * get(a, 0, 0) + get(j, 0, 0) * from_plane; }")
	s := sourceOf(t, filepath.Join(dir, "wide.sl"), stencil.Float32, stencil.Size{512, 512, 1}, tiles2d+"1", h200)
	for s.Name = "w"; ; s.Name += "w" {
		text, err := Text("fortran", s)
		if err != nil {
			break
		}
		write(t, dir, "wide.f90", string(text))
	}
	build(t, dir, "gfortran", "-Wall", "-Werror", "-std=f2008", "-fsyntax-only", "wide.f90")
}
