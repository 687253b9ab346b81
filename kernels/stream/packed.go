package stream

import (
	_ "embed"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

//go:embed packed.cu
var packedSource string

//go:embed packed_halo.cu
var packedHaloSource string

// packs tells whether a weighted sum is computed two cells an instruction: where the element type allows it, float16 holds
// the weights, and no cell outside the grid or held asks for more than the choice of a word.
func (s stages) packs(p stencil.Problem) bool {
	return p.DType.Packed() && kernels.OneType(p) && kernels.OneOutput(p) && s.linear && s.narrow && !s.mixed && !s.edge && s.held == (ends{})
}

// narrowWeights tells whether all weights of a linear stencil, and its constant, are normal numbers of float16.
func narrowWeights(st *stencil.Stencil) bool {
	byOffset, constant, _ := st.Linear()
	for _, w := range append(slices.Collect(maps.Values(byOffset)), constant) {
		if w = math.Abs(w); w != 0 && (w < 0x1p-14 || w > 65504) {
			return false
		}
	}
	return true
}

// words is the registers of a thread that hold a vector.
func (g plan) words() int {
	if g.packed {
		return g.vector / 2
	}
	return g.vector
}

// computedSize is the bytes of a value in computation.
func (g plan) computedSize() int {
	if g.packed {
		return g.problem.DType.Size()
	}
	return kernels.ComputedSize(g.problem.DType)
}

// packedPieces is the text with words of two cells for what is computed in: all of it in a namespace, where Real is one.
func packedPieces(pieces []kernels.Piece) []kernels.Piece {
	pieces = slices.Concat([]kernels.Piece{{Text: "namespace packed {\n"}, {File: folder + "packed.cu", Text: packedSource}}, pieces, []kernels.Piece{{Text: "} // namespace packed\nusing packed::ENTRY;\n"}})
	for i := range pieces {
		if pieces[i].Packed = true; pieces[i].File == "" {
			pieces[i].Text = packedText(pieces[i].Text)
		}
	}
	return pieces
}

// realLiteral finds the numbers that literal writes.
var realLiteral = regexp.MustCompile(`Real\(([-+.e\d]+)\)`)

// packedText is generated text for them. Numbers are written as the bits of two: no compiler folds a conversion to float16.
func packedText(text string) string {
	text = strings.NewReplacer("\nconstexpr Real CONSTANT_TERM = Real(-0.0), ", "\n__device__ constexpr Nothing CONSTANT_TERM{};\n__device__ constexpr Real ",
		"Real (&sum)", "Sum (&sum)", "Real part", "Sum part", "Real(-0.0)", "Nothing()", "\nconstexpr Real", "\n__device__ constexpr Real").Replace(text)
	return realLiteral.ReplaceAllStringFunc(text, func(number string) string {
		v, err := strconv.ParseFloat(realLiteral.FindStringSubmatch(number)[1], 64)
		if err != nil {
			panic("stream: " + number)
		}
		bits := stencil.Float16Bits(v)
		return fmt.Sprintf("Packed(0x%04x%04[1]xu /* %[2]v */)", bits, v)
	})
}
