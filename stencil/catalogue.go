package stencil

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
)

//go:embed catalogue/*.sl
var catalogue embed.FS

// Names lists the embedded catalogue, sorted.
func Names() []string {
	files, err := catalogue.ReadDir("catalogue")
	if err != nil {
		panic("stencil: embedded catalogue: " + err.Error())
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".sl"))
	}
	slices.Sort(names)
	return names
}

// ErrUnknown is in the chain of the error of a name that the catalogue does not have.
var ErrUnknown = errors.New("unknown stencil")

// Lookup gives a stencil of the catalogue by name.
func Lookup(name string) (*Stencil, error) {
	src, err := catalogue.ReadFile("catalogue/" + name + ".sl")
	if err != nil || strings.ContainsAny(name, "/\\.") {
		return nil, fmt.Errorf("%w %q: use one of %s, or the path of a .sl file", ErrUnknown, name, strings.Join(Names(), ", "))
	}
	return Parse(name, name+".sl", string(src))
}

// DefaultSize is the grid a stencil is tuned for when none is named: the file's
// own, else well beyond every cache of the GPU. For the host emulation it is
// smaller.
func (s *Stencil) DefaultSize(host bool) Size {
	switch {
	case s.size != Size{} && !host:
		return s.size
	case s.Dims == 1 && host:
		return Size{1 << 20, 1, 1}
	case s.Dims == 1:
		return Size{1 << 26, 1, 1}
	case s.Dims == 2 && host:
		return Size{1024, 1024, 1}
	case s.Dims == 2:
		return Size{8192, 8192, 1}
	case host:
		return Size{128, 128, 128}
	}
	return Size{512, 512, 512}
}
