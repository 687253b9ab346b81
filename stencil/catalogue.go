package stencil

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed catalogue/*.sl catalogue/applications/*.sl
var catalogue embed.FS

// Textbook lists the catalogue's small stencils, sorted: those of the sources and of
// published benchmarks, which the documents' figures are of.
func Textbook() []string { return listed(textbook) }

// Applications lists the catalogue's larger stencils, sorted: time steps of real programs.
func Applications() []string { return listed(applications) }

// Names lists the whole catalogue, sorted.
func Names() []string {
	all := append(Textbook(), Applications()...)
	slices.Sort(all)
	return all
}

// The folders of the catalogue.
const (
	textbook     = "catalogue"
	applications = "catalogue/applications"
)

// listed are the names of the files in a folder.
func listed(folder string) []string {
	files, err := catalogue.ReadDir(folder)
	if err != nil {
		panic("stencil: embedded catalogue: " + err.Error())
	}
	var names []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".sl"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ErrUnknown is in the chain of the error of a name that the catalogue does not have.
var ErrUnknown = errors.New("unknown stencil")

// Lookup gives a stencil of the catalogue by name.
func Lookup(name string) (*Stencil, error) {
	src, err := catalogue.ReadFile(textbook + "/" + name + ".sl")
	if errors.Is(err, fs.ErrNotExist) {
		src, err = catalogue.ReadFile(applications + "/" + name + ".sl")
	}
	if err != nil || strings.ContainsAny(name, "/\\.") {
		return nil, fmt.Errorf("%w %q: use one of %s, or the path of a .sl file", ErrUnknown, name, strings.Join(Names(), ", "))
	}
	return Parse(name, name+".sl", string(src))
}

// DefaultSize is the grid a stencil is tuned for when none is named: the file's
// own on every device, else one well beyond every cache of the GPU, and for the host
// emulation a smaller one.
func (s *Stencil) DefaultSize(host bool) Size {
	switch {
	case s.size != Size{}:
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
