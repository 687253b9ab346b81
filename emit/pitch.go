package emit

import (
	"fmt"
	"slices"
	"strings"
)

// layouts are a source, and if it was asked for what stands beside it for pitched grids.
func (s Source) layouts() []Source {
	if !s.Pitched {
		return []Source{s}
	}
	pitched := s
	pitched.Name += "Pitched"
	pitched.Problem.Pitched = true
	return []Source{s, pitched}
}

// checkPitched tells why a form has no functions for pitched grids, if so.
func (s Source) checkPitched(format string) error {
	if forms := []string{"cu", "header", "fortran"}; !slices.Contains(forms, format) {
		return fmt.Errorf("format %s has nothing for pitched grids; those that have are %s", format, strings.Join(forms, ", "))
	}
	if st := s.Problem.Stencil; st.Dims == 1 {
		return fmt.Errorf("%s has one row of cells, and nothing that could be pitched", plain(st.Name))
	}
	return checkName(s.Name + "Pitched")
}

// prototypes declare what an emitted CUDA source exports.
func (s Source) prototypes() string {
	var all []string
	for _, one := range s.layouts() {
		all = append(all, exportsOf(one).prototypes())
	}
	return strings.Join(all, "\n")
}
