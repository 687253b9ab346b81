package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// load is how what is loaded of an array is stored, and how the text says it: where all arrays are of one type, in fewer words.
type load struct {
	one          bool
	elem, vector string // the types of elements and of vectors
	copied       string // where the thread copies to in the first plane of such elements
	begin        int    // of its ring in shared memory: planes before it, or where types differ bytes
	small        bool   // parts of vectors, or cells of the sides, are too small for asynchronous copies
	// Which of them are loaded to registers first.
	lateParts, lateSides bool
}

// loads is that of all versions that are loaded, and the bytes of their rings.
func (h shape) loads(p stencil.Problem, l *plan) (list []load, bytes int) {
	one, planes := kernels.OneType(p), 0
	for _, v := range l.versions[:l.loads] {
		n := load{one: one, elem: "T", vector: "Vector", copied: "copied", begin: planes}
		d := p.Stored(l.given(v.array))
		smallParts, smallSides := !v.direct && kernels.MovedBytes(p, d, h.part(p)) < 4, !v.direct && h.sided(l) && d.Size() < 4
		n.small = smallParts || smallSides
		if !one {
			n.elem, n.begin = kernels.ElementC(p, l.given(v.array)), bytes
			n.vector = "VectorOf<" + n.elem + ">"
			if n.elem != "T" {
				n.copied = "copied_" + d.Short()
			}
			n.lateParts, n.lateSides = smallParts, smallSides
		}
		list = append(list, n)
		bytes += h.ringBytes(p, l, v)
		planes += v.ring(l.dims, h.prefetch)
	}
	return list, bytes
}

// ringBytes is the shared memory of a version that is loaded; where types differ, in whole 16 bytes.
func (h shape) ringBytes(p stencil.Problem, l *plan, v version) int {
	low, high := l.extraRows()
	n := v.ring(l.dims, h.prefetch) * h.pitch(l) * (h.bands()*h.rows + low + high) * p.Stored(l.given(v.array)).Size()
	if kernels.OneType(p) {
		return n
	}
	return kernels.RoundUp(n, 16)
}

// late tells whether anything of it is loaded to registers first.
func (n load) late() bool { return n.lateParts || n.lateSides }

// at is where the plane at slot lies, in bytes.
func (n load) at(slot string) string {
	if n.one {
		return fmt.Sprintf("(%d + %s) * LOADED * (int)sizeof(Vector)", n.begin, slot)
	}
	return fmt.Sprintf("%d + %s * LOADED * (int)sizeof(%s)", n.begin, slot, n.vector)
}

// plane is the first vector of the plane at slot.
func (n load) plane(slot string) string {
	if n.one {
		return fmt.Sprintf("reinterpret_cast<const Vector *>(shared) + (%d + %s) * LOADED", n.begin, slot)
	}
	return fmt.Sprintf("reinterpret_cast<const %s *>(shared + %d) + %s * LOADED", n.vector, n.begin, slot)
}

// array is array a of a launch from its first element on.
func (n load) array(a int) string {
	if n.one {
		return fmt.Sprintf("at.grid.in[%d]", a)
	}
	return fmt.Sprintf("elements<%s>(at.grid.in[%d])", n.elem, a)
}

// side is bytes from what a thread copies to the kth cell of sides that it loads.
func (n load) side() string {
	if n.one {
		return "at.side_at[k]"
	}
	return fmt.Sprintf("at.side_at[k] * (int)sizeof(%s)", n.elem)
}

// distinct is one of each of those that differ in where threads copy to.
func distinct(loads []load) (list []load) {
	for _, n := range loads {
		if !slices.ContainsFunc(list, func(m load) bool { return m.copied == n.copied }) {
			list = append(list, n)
		}
	}
	return list
}

// lateText declares what is loaded to registers first.
func (p *plan) lateText(b *strings.Builder, loads []load) {
	for v, n := range loads {
		if n.lateParts {
			fmt.Fprintf(b, "  PartOf<%s> late_%d[ROWS + (EXTRA > 0 ? EXTRA_EACH : 0)][VECTOR / PART]; // on their way to shared memory\n", n.elem, v)
		}
		if n.lateSides {
			fmt.Fprintf(b, "  %s late_side_%d[SIDE_EACH]; // and cells of the sides\n", n.elem, v)
		}
	}
}

// putLateText is the function that puts them there.
func (p *plan) putLateText(b *strings.Builder, h shape, loads []load) {
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	line("  // Puts what is too small for asynchronous copies into the planes that were asked for last.")
	line("  __device__ __forceinline__ void put_late_copies(int ahead) {")
	for v, of := range loads {
		if !of.late() {
			continue
		}
		n := p.versions[v].ring(p.dims, h.prefetch)
		line("    {\n      int slot = slot_%d + ahead;", n)
		line("      if (slot >= %d) slot -= %d;", n, n)
		line("      char *const to = %s + (%s);", of.copied, of.at("slot"))
		p.copiesText(b, h, func(number, place, _ string) string {
			return either(of.lateParts, fmt.Sprintf("put_late<PART_STRIDE>(to + %s * (int)sizeof(%s), late_%d[%s])", place, of.vector, v, number), "")
		}, func() string {
			return either(of.lateSides, fmt.Sprintf("*reinterpret_cast<%s *>(to + %s) = late_side_%d[k]", of.elem, of.side(), v), "")
		})
		line("    }")
	}
	line("  }\n")
}

// loadedPlanes is the planes of what is loaded that shared memory has room for.
func (p *plan) loadedPlanes(prefetch int) (n int) {
	for _, v := range p.versions[:p.loads] {
		n += v.ring(p.dims, prefetch)
	}
	return n
}
