// Package kernelstest holds what the tests of kernel families share: problems of the
// catalogue, schedules, and the check of generated sources against reviewed ones.
//
// It is for tests only.
package kernelstest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"stenciltune/internal/golden"
	"stenciltune/kernels"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// Grids in two and three dimensions that most tiles do not divide.
var (
	Plane  = stencil.Size{1000, 700, 1}
	Volume = stencil.Size{300, 200, 100}
)

// Problem is a stencil of the catalogue on a grid, for ten time steps.
func Problem(t testing.TB, name string, d stencil.DType, n stencil.Size) stencil.Problem {
	t.Helper()
	return stencil.Problem{Stencil: stenciltest.Lookup(t, name), DType: d, Size: n, Steps: 10}
}

// Skew reaches from -2 to 1 on x and from 0 to 1 on y.
func Skew(t testing.TB, d stencil.DType, n stencil.Size) stencil.Problem {
	t.Helper()
	s := stenciltest.Parse(t, "skew", "NumDimensions 2 StencilSize (2, 1) CellValue { return get(-2, 0) + get(1, 0) + get(0, 1); }")
	return stencil.Problem{Stencil: s, DType: d, Size: n, Steps: 10}
}

// Numbers is two fields of which a step stores one and copies the other: its numbers are folded where they are stored.
func Numbers(t testing.TB, d stencil.DType, n stencil.Size) stencil.Problem {
	t.Helper()
	s := stenciltest.Parse(t, "numbers", "NumDimensions 2 StencilSize (1, 1) Fields (u, v) StepScalar sum s { return get(u, 0, 0) * get(v, 0, 0); } StepScalar max most { return fabs(get(u, 0, 0)) * x; } "+
		"StepScalar k { return s / (1 + most); } CellValue { return get(u, -1, 0) * k + sin(get(u, 0, 1)) / get(v, 1, 0), get(u, 0, 0); }")
	return stencil.Problem{Stencil: s, DType: d, Size: n, Steps: 10}
}

// Source is a kernel whose text has been reviewed: testdata/<Golden>.golden.
type Source struct {
	Golden   string
	Problem  stencil.Problem
	Schedule string
	Whole    bool // the golden has the lines of files too, as a reader of a kernel sees them
}

// Check compares a kernel's text with the reviewed one, and its lines with the files that they are from, and looks whether its kernels wait first.
func (c Source) Check(t *testing.T, k kernels.Kernel) {
	t.Helper()
	text := k.Source
	if !c.Whole {
		text = brief(k)
	}
	golden.Check(t, c.Golden, []byte(text))
	CheckLines(t, k)
	CheckWaits(t, k)
}

// brief is a source without the lines of files, which are the same in every kernel: each
// piece of a file is its #line alone, without the number, which CheckLines knows better.
func brief(k kernels.Kernel) string {
	var b strings.Builder
	file := false
	for line := range strings.Lines(k.Source) {
		if strings.HasPrefix(line, "#line ") {
			_, name, _ := strings.Cut(line, `"`)
			file = name != k.Entry+".cu\"\n"
			b.WriteString(`#line "` + name)
			continue
		}
		if !file {
			b.WriteString(line)
		}
	}
	return b.String()
}

// CheckSources compares a family's sources with the reviewed ones, and the kernels
// with what they were asked for.
func CheckSources(t *testing.T, f kernels.Family, list []Source) {
	t.Helper()
	for _, c := range list {
		k := f.Kernel(c.Problem, spacetest.Schedule(t, c.Schedule))
		c.Check(t, k)
		if head := "// " + c.Problem.Stencil.Name + ", " + string(c.Problem.DType) + ": schedule " + c.Schedule + "\n"; !strings.HasPrefix(k.Source, head) {
			t.Errorf("%s begins with %.80q", c.Golden, k.Source)
		}
		if !strings.Contains(k.Source, "#define ENTRY "+k.Entry+"\n") || k.DType != c.Problem.DType || k.Schedule.String() != c.Schedule {
			t.Errorf("%s: entry %s, %s, %s", c.Golden, k.Entry, k.DType, k.Schedule)
		}
	}
}

// root is the module's folder.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		break
	}
	t.Fatalf("no go.mod above %s: %v", dir, err)
	return ""
}

// lineDirective is a #line with its number and its file.
var lineDirective = regexp.MustCompile(`^#line (\d+) "(.*)"$`)

// awaits is the beginning of a kernel that may be launched before the one before it has ended.
var awaits = regexp.MustCompile(` __global__ [^{]*\{\n  ` + regexp.QuoteMeta(kernels.Await) + `\n`)

// CheckWaits looks whether all of a source's kernels wait first.
func CheckWaits(t *testing.T, k kernels.Kernel) {
	t.Helper()
	if entries, waits := strings.Count(k.Source, " __global__ "), len(awaits.FindAllString(k.Source, -1)); !k.Awaits() || entries != waits {
		t.Errorf("%s: %d of %d kernels wait for the launch before them, first of all", k.Entry, waits, entries)
	}
}

// CheckLines looks whether every line of a source says truly where it is from: as a file of
// the module has it, in general words or in those for one boundary rule or dense rows, or as the source itself does.
func CheckLines(t *testing.T, k kernels.Kernel) {
	t.Helper()
	own := strings.Split(k.Source, "\n")
	files := map[string][]string{k.Entry + ".cu": own}
	from, at := own, 0
	for i, line := range own {
		if m := lineDirective.FindStringSubmatch(line); m != nil {
			if files[m[2]] == nil {
				text, err := os.ReadFile(filepath.Join(root(t), m[2]))
				if err != nil {
					t.Fatalf("%s, line %d: %v", k.Entry, i+1, err)
				}
				spelt := kernels.Spelling(string(text), kernels.Simple{OneRule: strings.Contains(k.Source, "constexpr Boundary BOUNDARY"), Dense: !k.Pitched, OneType: !strings.Contains(k.Source, "struct Reader"), OneOutput: !strings.Contains(k.Source, "struct Writer"), Folds: strings.Contains(k.Source, ".leave()"), Ends: strings.Contains(k.Source, "RIM_X"), Valued: strings.Contains(k.Source, "boundary_value(at.grid, array"), Apart: strings.Contains(k.Source, "bool mirrors_apart(int axis)"), Traits: kernels.Traits{Images: strings.Contains(k.Source, "IMAGES"), Packed: strings.Contains(k.Source, "namespace packed {"), Turns: strings.Contains(k.Source, "turns["), Apron: strings.Contains(k.Source, "ApronRow"), Again: strings.Contains(k.Source, "prefetch.again("), Held: strings.Contains(k.Source, "void store_some("), Shares: strings.Contains(k.Source, "struct Share {"), Keeps: strings.Contains(k.Source, "void put_kept(")}})
				files[m[2]] = strings.Split(spelt, "\n")
			}
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			from, at = files[m[2]], n-1
			continue
		}
		if at >= len(from) || from[at] != line {
			if line == "" { // before the next #line
				continue
			}
			t.Fatalf("%s, line %d is none of where it says it is from: %s", k.Entry, i+1, line)
		}
		at++
	}
}

// CheckConstants looks for compile-time numbers, like "GROUP_X = 128", in a kernel.
func CheckConstants(t *testing.T, k kernels.Kernel, list ...string) {
	t.Helper()
	for _, want := range list {
		if !strings.Contains(k.Source, "constexpr int "+want+"; // ") {
			t.Errorf("%s: no %s", k.Schedule, want)
		}
	}
}

// Launch is a launch's geometry that was worked out by hand.
type Launch struct {
	Problem  stencil.Problem
	Schedule string
	Want     kernels.Launch
}

// CheckLaunches compares a family's launches with those.
func CheckLaunches(t *testing.T, f kernels.Family, list []Launch) {
	t.Helper()
	for _, c := range list {
		if got := f.Kernel(c.Problem, spacetest.Schedule(t, c.Schedule)).Launch; got != c.Want {
			t.Errorf("%s: %+v, want %+v", c.Schedule, got, c.Want)
		}
	}
}
