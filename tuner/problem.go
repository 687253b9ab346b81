package tuner

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stenciltune/cache"
	"stenciltune/stencil"
)

// InputError is a fault of what a person asked for: an unknown stencil, a size that does
// not fit, a file that is not there. Its text says what to do.
type InputError struct{ error }

func (e InputError) Unwrap() error { return e.error }

// Input makes an InputError of an error.
func Input(err error) error { return InputError{err} }

// Inputf makes an InputError.
func Inputf(format string, args ...any) error { return InputError{fmt.Errorf(format, args...)} }

// Spec names a problem as a person does. What is empty is the stencil's own.
type Spec struct {
	Stencil string   // name in the catalogue, or path of a .sl file
	DType   string   // element type: "float32"
	Compute string   // what it is computed in: "float16"
	Size    string   // extents, x fastest: "512x512x512"
	Steps   int      // time steps of one run of the program that will use the config
	Scalars []string // "name=value"
	Small   bool     // without a Size, one that suits a processor instead of a GPU
}

// defaultSteps is how many time steps a run has if nobody says so.
const defaultSteps = 1000

// Problem looks a problem up. What does not exist is an InputError.
func (s Spec) Problem() (Problem, error) {
	if s.Stencil == "" {
		return Problem{}, Inputf("which stencil? name one with --stencil: %s", strings.Join(stencil.Names(), ", "))
	}
	st, err := LoadStencil(s.Stencil)
	if err != nil {
		return Problem{}, err
	}
	return s.Of(st)
}

// Of is the problem of a stencil that is there already.
func (s Spec) Of(st *stencil.Stencil) (Problem, error) {
	p := Problem{Stencil: st, DType: st.DType, Size: st.DefaultSize(s.Small), Steps: cmp.Or(s.Steps, st.Steps, defaultSteps)}
	var err error
	if p.Scalars, err = scalarValues(st, s.Scalars); err != nil {
		return p, err
	}
	if s.DType != "" {
		if p.DType, err = stencil.ParseDType(s.DType); err != nil {
			return p, InputError{err}
		}
	}
	if s.Compute != "" {
		in, err := stencil.ParseDType(s.Compute)
		if err == nil {
			p.DType, err = p.DType.Computing(in)
		}
		if err != nil {
			return p, Inputf("--compute %s: %w", s.Compute, err)
		}
	}
	switch {
	case !slices.Contains(st.DTypes(), p.DType):
		return p, Inputf("--dtype %s: %s is computed in %s", p.DType, st.Name, stencil.JoinTypes(st.DTypes()))
	case p.Steps < 1 || p.Steps > stencil.MaxSteps:
		return p, Inputf("%d time steps: their number must lie in 1..%d", p.Steps, stencil.MaxSteps)
	}
	if s.Size != "" {
		if p.Size, err = stencil.ParseSize(s.Size, st.Dims); err != nil {
			return p, InputError{err}
		}
	}
	for a, n := range st.Least() {
		if p.Size[a] < n {
			return p, Inputf("size %s: extent %d on %c, where an array is Short, must be %d or more", p.Size.Text(st.Dims), p.Size[a], "xyz"[a], n)
		}
	}
	return p, nil
}

// LoadStencil finds a stencil by its name in the catalogue, or reads a .sl file.
func LoadStencil(name string) (*stencil.Stencil, error) {
	if !strings.HasSuffix(name, ".sl") {
		s, err := stencil.Lookup(name)
		if errors.Is(err, stencil.ErrUnknown) {
			err = InputError{err}
		}
		return s, err
	}
	short := strings.TrimSuffix(filepath.Base(name), ".sl")
	if short == "" {
		return nil, Inputf("stencil file %s has no name: a config must have one, so call it like blur.sl", name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, Inputf("stencil file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, Inputf("stencil file %s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, Inputf("stencil file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, Inputf("stencil file: %w", err)
	}
	return stencil.Parse(short, name, string(text))
}

// ProblemOf is a config's problem; name says where its stencil is, if not in the catalogue.
func ProblemOf(c Config, name string) (Problem, error) {
	load := LoadStencil
	if name == "" { // what a config says is no path
		name, load = c.Stencil.Name, stencil.Lookup
	}
	st, err := load(name)
	switch {
	case errors.Is(err, stencil.ErrUnknown) && name == c.Stencil.Name:
		return Problem{}, Inputf("the config is of stencil %q, which the catalogue does not have: name its file too, like --stencil %[1]s.sl", name)
	case errors.Is(err, stencil.ErrUnknown):
		return Problem{}, InputError{err}
	case err != nil:
		return Problem{}, err
	}
	p := Problem{Stencil: st, DType: stencil.DType(c.Stencil.DType), Size: stencil.Size{1, 1, 1}, Steps: c.Problem.Steps, Scalars: scalarsOf(c, st)}
	if !IsOf(c, st) {
		return p, Inputf("the config is of stencil %s with hash %.12s, and %s has hash %.12s: name its file with --stencil", c.Stencil.Name, c.Stencil.Hash, name, p.Hash())
	}
	if st.Dims != len(c.Problem.Size) {
		return p, Inputf("the config's size has %d extents, and %s has %d dimensions", len(c.Problem.Size), name, st.Dims)
	}
	copy(p.Size[:], c.Problem.Size)
	return p, nil
}

// scalarsOf are the values that a config has of a stencil's scalars.
func scalarsOf(c Config, st *stencil.Stencil) []float64 {
	values := Problem{Stencil: st}.ScalarValues()
	for i, a := range st.Scalars {
		if v, ok := c.Scalars[a.Name]; ok {
			values[i] = v
		}
	}
	return values
}

// IsOf tells whether a config is of a stencil, with whatever values of its scalars.
func IsOf(c Config, st *stencil.Stencil) bool {
	return Problem{Stencil: st, Scalars: scalarsOf(c, st)}.Hash() == c.Stencil.Hash
}

// ReadConfig reads the file of a config.
func ReadConfig(file string) (Config, error) {
	c, err := cache.ReadConfig(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return c, Inputf("%s: %w", file, err)
	}
	if err != nil {
		return c, InputError{err}
	}
	return c, nil
}

// Scalars are the values of a problem's scalars, by name; nil without.
func Scalars(p Problem) map[string]float64 {
	if len(p.Stencil.Scalars) == 0 {
		return nil
	}
	values := map[string]float64{}
	for i, v := range p.ScalarValues() {
		values[p.Stencil.Scalars[i].Name] = v
	}
	return values
}

// maxScalar bounds the values of whole scalars: all below are exact in a double, and no other number is rounded to one.
const maxScalar = 1 << 53

// scalarValues reads "name=value" texts: nil where none is given.
func scalarValues(st *stencil.Stencil, texts []string) ([]float64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	var names []string
	for _, s := range st.Scalars {
		names = append(names, s.Name)
	}
	given := make([]bool, len(names))
	values := Problem{Stencil: st}.ScalarValues()
	for _, text := range texts {
		name, number, _ := strings.Cut(text, "=")
		i := slices.Index(names, name)
		v, err := strconv.ParseFloat(number, 64)
		switch {
		case len(names) == 0:
			return nil, Inputf("--scalar %.80q: %s has no scalars", text, st.Name)
		case i < 0:
			return nil, Inputf("--scalar %.80q: the scalars of %s are %s", text, st.Name, strings.Join(names, ", "))
		case given[i]:
			return nil, Inputf("--scalar %.80q: %s is given twice", text, name)
		case err != nil || math.IsInf(v, 0) || math.IsNaN(v):
			return nil, Inputf("--scalar %.80q: want a number after the =, like %s=%v", text, name, values[i])
		}
		if t := st.Scalars[i].Type; !t.Floating() && (stencil.DType(t).Round(v) != v || math.Abs(v) >= maxScalar) {
			return nil, Inputf("--scalar %.80q: %v is no %s", text, number, t)
		}
		values[i], given[i] = v, true
	}
	return values, nil
}
