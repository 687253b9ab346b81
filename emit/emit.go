// Package emit writes a config in the forms that other builds read: a header, build
// variables, records of other tuners, and the tuned kernel itself with a launcher.
//
// It writes text from configs and never looks anything up, measures or compiles.
// The same configs give the same bytes on every platform. Everything that comes
// from a config reaches a build as a checked number or name; free text, such as a
// device's name, is cut down to plain ASCII first.
package emit

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stenciltune/cache"
	"stenciltune/kernels"
	"stenciltune/stencil"
)

// Source is a tuned stencil to be emitted.
type Source struct {
	// Name begins every name in what is emitted: a C identifier.
	Name string
	// Configs are of one stencil and element type, of several devices and sizes where a
	// form takes several (Format).
	Configs []cache.Config
	// Problem is what the kernel is generated for; only cu and the images need it.
	Problem stencil.Problem
	// Families generate the kernel.
	Families []kernels.Family
	// Pitched asks for functions beside the others, NAMEPitchedOnDevice and so on, for grids whose rows and planes are parts of
	// longer ones. They have kernels of their own.
	Pitched bool
}

// Format is one form.
type Format struct {
	Name  string
	Doc   string
	text  func(Source) ([]byte, error)
	many  bool // takes several configs
	steps bool // any grid of a caller's, which not every kernel can (stepped)
}

// Formats are the forms that are text, in the order of the help.
func Formats() []Format {
	return []Format{
		{"json", "the config itself, one JSON document", config, false, false},
		{"header", "C and C++ header, of several devices", header, true, false},
		{"cmake", "cache variables for include() or cmake -C", cmake, false, false},
		{"make", "variables for include in a makefile", makefile, false, false},
		{"nvcc-flags", "one line of flags for nvcc", nvccFlags, false, false},
		{"env", "variables for a shell", env, false, false},
		{"wisdom", "Kernel Launcher's wisdom file, of several devices and sizes", wisdom, true, false},
		{"t4", "Kernel Tuner's T4 results, of several devices and sizes", t4, true, false},
		{"cu", "CUDA source: the kernels and a launcher, of several devices and sizes", cu, true, true},
		{"fortran", "Fortran module of interfaces to the CUDA source's functions", fortran, true, true},
		{"python", "Python module for CuPy and PyTorch: the kernels and a launcher, of several devices and sizes", python, true, true},
	}
}

// Text writes a source in a format by name.
func Text(format string, s Source) ([]byte, error) {
	i := slices.IndexFunc(Formats(), func(f Format) bool { return f.Name == format })
	if i < 0 {
		return nil, fmt.Errorf("no format %.40q", format)
	}
	f := Formats()[i]
	if err := s.check(); err != nil {
		return nil, err
	}
	if len(s.Configs) > 1 && !f.many {
		return nil, fmt.Errorf("format %s holds one config and %d were given: choose a device and a size", f.Name, len(s.Configs))
	}
	if f.steps || s.Pitched {
		if err := s.stepped(); err != nil {
			return nil, err
		}
	}
	if s.Pitched {
		if err := s.checkPitched(f.Name); err != nil {
			return nil, err
		}
	}
	return f.text(s)
}

// Name makes a stencil's name a C identifier.
func Name(stencil string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (isLetter(byte(r)) || r >= '0' && r <= '9') {
			return r
		}
		return '_'
	}, stencil)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// checkName refuses a name that cannot begin names in C, C++, Python, CMake and make alike.
func checkName(name string) error {
	if !identifier.MatchString(name) || strings.HasPrefix(name, "__") || len(name) > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z' {
		return fmt.Errorf("name %.80q: want letters, digits and _, at most 63, not beginning with a digit, __ or _ and a capital", name)
	}
	if slices.Contains(reserved, name) || strings.HasPrefix(name, "M_") || strings.HasPrefix(name, "cuda") {
		return fmt.Errorf("name %s is a word of C, C++, Python or their libraries: choose another with --name", name)
	}
	return nil
}

// reserved are names that pass for identifiers and are none, or taken.
var reserved = strings.Fields(`alignas alignof and asm auto bool break case catch char class const constexpr continue decltype
	default delete do double else enum explicit export extern false float for friend goto if inline int long main mutable namespace new
	noexcept not nullptr operator or private protected public register restrict return short signed sizeof static struct switch template
	this throw true try tune typedef typeid typename union unsigned using virtual void volatile while xor exp log sin cos tan sqrt floor
	ceil round abs pow min max printf malloc free read write time std size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t
	uint32_t uint64_t None True False as assert async await def del elif except finally from global import in is lambda nonlocal pass
	raise with yield NULL NAN INFINITY HUGE_VAL EOF errno stdin stdout stderr linux unix dim3 offsetof`)

// check refuses what cannot be emitted together. Configs that come from a document
// were validated when it was read.
func (s Source) check() error {
	if err := checkName(s.Name); err != nil {
		return err
	}
	if len(s.Configs) == 0 {
		return fmt.Errorf("no config to emit")
	}
	first := s.Configs[0]
	for _, c := range s.Configs {
		if c.Stencil.Hash != first.Stencil.Hash || c.Stencil.DType != first.Stencil.DType {
			return fmt.Errorf("configs of different stencils: %s %s and %s %s", first.Stencil.Name, first.Stencil.DType, c.Stencil.Name, c.Stencil.DType)
		}
	}
	return nil
}

// prefix begins names of macros and variables.
func (s Source) prefix() string { return "TUNE_" + strings.ToUpper(strings.Trim(s.Name, "_")) + "_" }

// plain makes free text fit for a comment or a C string in any language: printable
// ASCII without quotes, backslashes, dollars, or the ends of comments.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune("\"'`\\$%#;<>?", r) {
			return '_'
		}
		return r
	}, text)
	return strings.NewReplacer("*/", "*_", "/*", "_*").Replace(text)
}

// about says in comment lines what a config is.
func about(c cache.Config) []string {
	lines := []string{
		fmt.Sprintf("%s, %s, %s, %d steps; stencil %s", plain(c.Stencil.Name), c.Stencil.DType, sizeText(c), c.Problem.Steps, c.Stencil.Hash),
		fmt.Sprintf("on %s (%s), driver %s, %s", plain(c.Device.Name), c.Device.Kind, cmp.Or(plain(c.Device.Driver), "none"), plain(c.Toolchain.Compiler)),
		"schedule " + c.Schedule.Text,
	}
	if c.Expected == nil {
		lines = append(lines, fmt.Sprintf("measured %s s a step (95 %%: %s to %s), %s GCells/s", number(c.Measured.SecondsPerStep), number(c.Measured.Low),
			number(c.Measured.High), strconv.FormatFloat(c.Measured.CellsPerSecond/1e9, 'f', 1, 64)))
	} else {
		lines = append(lines, fmt.Sprintf("expected %s s a step; match %s: %s", number(c.Expected.SecondsPerStep), c.Match.Grade, plain(c.Match.Note)))
	}
	return append(lines, fmt.Sprintf("tuned %s by %s %s", c.Time.UTC().Format("2006-01-02"), plain(c.Tool.Name), plain(c.Tool.Version)))
}

// banner is the head of a file as comment lines that begin with mark.
func banner(s Source, mark string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: tuned by tune. Generated, DO NOT EDIT.\n", mark, s.Name)
	for _, c := range s.Configs {
		for _, l := range about(c) {
			fmt.Fprintf(&b, "%s %s\n", mark, l)
		}
	}
	return b.String()
}

// number writes a float the same on every platform and the shortest way.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// size is a config's extents, 1 on axes the grid lacks.
func size(c cache.Config) stencil.Size {
	n := stencil.Size{1, 1, 1}
	copy(n[:], c.Problem.Size)
	return n
}

func sizeText(c cache.Config) string { return size(c).Text(len(c.Problem.Size)) }

// arch is a compute capability as the compilers number it, 90 for 9.0; 0 where there
// is none.
func arch(c cache.Config) int {
	n, err := strconv.Atoi(strings.ReplaceAll(c.Device.ComputeCapability, ".", ""))
	if err != nil {
		return 0
	}
	return n
}

// dtype is the element type of the configs.
func (s Source) dtype() stencil.DType { return stencil.DType(s.Configs[0].Stencil.DType) }

// config is the document itself.
func config(s Source) ([]byte, error) { return cache.Encode(s.Configs[0]) }
