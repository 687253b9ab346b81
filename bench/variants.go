package main

import (
	"context"
	"embed"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"stenciltune/stencil"
)

// variantFiles are stencils that the catalogue does not need: the textbook's with one thing changed, and peers' own.
//
//go:embed variants/*.sl
var variantFiles embed.FS

// clamped is what a rule takes the place of.
const clamped = "Boundary clamp"

// boundary is what lies outside the grid, as a stencil file has it.
type boundary struct{ name, text string }

// rules are the boundary rules as a stencil file has them, and an edge that the cell function itself holds.
var rules = []boundary{
	{"clamp", clamped}, {"wrap", "Boundary wrap"}, {"mirror", "Boundary mirror"}, {"constant", "Boundary constant 0"},
	{"fixed", "Boundary fixed"}, {"value", "EdgeValue { return value; }"}, {"held", ""},
}

// mixes are rules that differ, by axis: of so many as a stencil has.
var mixes = []struct {
	name string
	axes [3]string
}{
	{"channel", [3]string{"wrap", "constant 0", "clamp"}},
	{"heated", [3]string{"(constant 1, constant 0)", "clamp", "clamp"}},
	{"walls", [3]string{"(mirror, clamp)", "fixed", "constant 0"}},
}

// held is the condition that keeps the outermost cells as they are.
func held(dims int) string {
	var on, zero []string
	for _, axis := range []string{"x", "y", "z"}[:dims] {
		on = append(on, axis+" == 0", axis+" == input_size."+axis+" - 1")
		zero = append(zero, "0")
	}
	return "CellValue {\n  if (" + strings.Join(on, " || ") + ") return get(" + strings.Join(zero, ", ") + ");"
}

// variants tunes four stencils under every boundary rule and by-hand edges, in both types, and then the files of
// variants as they are and, where their edges are fixed, clamped: each cold. One file of results holds all that is compared.
func variants(_ context.Context, b *bench) (rows []row, err error) {
	add := func(name, text, dtype, size string) {
		rows = append(rows, row{problem{name, dtype, size}.name("Variant"), func(ctx context.Context, repeat int) (result, error) {
			path := filepath.Join(b.work, name+".sl")
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				return result{}, err
			}
			p := problem{path, dtype, size}
			return b.tuned(ctx, p, repeat, func(c config, _ float64) []benchfmt.Value {
				return []benchfmt.Value{value(p.rate(1e9*c.Baseline.SecondsPerStep).Value, "naive-GCells/s")}
			})
		}})
	}
	for _, dtype := range []string{"float32", "float64"} {
		for _, name := range []string{"jacobi2d", "jacobi2d9", "jacobi3d", "jacobi3d27"} {
			s, err := stencil.Lookup(name)
			if err != nil {
				return nil, err
			}
			size := map[int]string{2: "16384x16384", 3: "512x512x512"}[s.Dims]
			list := slices.Clone(rules)
			for _, m := range mixes {
				list = append(list, boundary{m.name, "Boundary (" + strings.Join(m.axes[:s.Dims], ", ") + ")"})
			}
			for _, rule := range list {
				text := strings.Replace(s.Text(), clamped, rule.text, 1)
				if rule.name == "held" {
					text = strings.Replace(s.Text(), "CellValue {", held(s.Dims), 1)
				}
				add(name+"-"+rule.name, text, dtype, size)
			}
		}
		list, err := stencilsIn(variantFiles, "variants")
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			size := s.DefaultSize(false).Text(s.Dims)
			add(s.Name, s.Text(), dtype, size)
			if clamp := strings.Replace(s.Text(), "Boundary fixed", clamped, 1); clamp != s.Text() {
				add(s.Name+"-clamp", clamp, dtype, size)
			}
		}
	}
	return rows, nil
}
