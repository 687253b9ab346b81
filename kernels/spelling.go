package kernels

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// spelling is what files say of the general case, and how the simple one is said. Programs start faster that compile no expression before a
// text has something for it.
type spelling struct {
	general func() *regexp.Regexp
	has     func() string // what it finds has this in it
	simple  string
}

func spell(general, simple string) spelling {
	return spelling{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(general) }), sync.OnceValue(func() string { return literal(general) }), simple}
}

// literal is the longest text that whatever an expression finds has in it, of those that the expression names as they are.
func literal(expression string) (longest string) {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(err) // an expression of ours
	}
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	for _, p := range parts {
		if s := string(p.Rune); p.Op == syntax.OpLiteral && p.Flags&syntax.FoldCase == 0 && len(s) > len(longest) {
			longest = s
		}
	}
	return longest
}

func (s spelling) of(text string) string {
	if !strings.Contains(text, s.has()) {
		return text
	}
	return s.general().ReplaceAllString(text, s.simple)
}

// oneRule is for boundary rules that may differ, and one that holds everywhere.
var oneRule = []spelling{
	spell(`\b(?:boundary|held)_index<[^>]*>\(\w+, `, "boundary_index("),
	spell(`\bstand_in\(grid, \w+, `, "wrap(grid, "),
	spell(`\blow_cell<\d>\(([^()]*)\)`, "-$1"),
	spell(`\bhigh_cell<\d>\(([^()]*)\)`, "$1"),
	spell(`!WRAPS_ALL\b`, "BOUNDARY != WRAP"),
	spell(`\bWRAPS_ROWS\b`, "BOUNDARY == WRAP"),
	spell(`\bONE_CONSTANT\b`, "BOUNDARY == CONSTANT"),
	spell(`VALUES_AT_ENDS && \(below \|\| above\)`, "below || above"),
	spell(`\n *if \(!away && !VALUES_IN_PLANE\) return;`, ""),
	spell(`, iteration, ENDS\)`, ", iteration)"),
	spell(`\bEDGES_ON_ROWS\b`, "BOUNDARY != WRAP && BOUNDARY != CLAMP && BOUNDARY != MIRROR"),
	spell(`\brule\(\w+, (?:\d|DIMS - 1), \d\)`, "BOUNDARY"),
	spell(`\bon_edge<\d>\((\w+)\)`, "$1"),
	spell(`\btemplate <int AXIS> __device__`, "__device__"),
	spell(`\b(tiles|window)<\w+>\(`, "$1("),
	spell(`!wraps\([^()]*\)`, "BOUNDARY != WRAP"),
	spell(`\bwraps\([^()]*\)`, "BOUNDARY == WRAP"),
	spell(`!some\((\w+)\)`, "BOUNDARY != $1"),
	spell(`\bsome\((\w+)\)`, "BOUNDARY == $1"),
	spell(`\bCONSTANT_ALONE\b`, "BOUNDARY == CONSTANT"),
	spell(`\bunsettled<\d>\(\w+, (\w+), ([\w.]+)\)`, "(unsigned)$1 >= (unsigned)$2"),
	spell(` && keeps\([^()]*\)`, ""),
	// Of stream, where sums keep constants by side.
	spell(`\bLANE_RULES\b`, "BOUNDARY != WRAP && BOUNDARY != EDGE_VALUE"),
	spell(`!BY_DISTANCE\b`, "BOUNDARY != MIRROR"),
	spell(`\bBY_DISTANCE\b`, "BOUNDARY == MIRROR"),
	spell(`!(?:rows|planes)\(([A-Z]+)\)`, "BOUNDARY != $1"),
	spell(`\b(?:rows|planes)\(([A-Z]+)\)`, "BOUNDARY == $1"),
	spell(`\bgiven\(\d, \d\)`, "BOUNDARY == CONSTANT"),
	spell(` (?:&&|\|\|) (?:gives|mirrors)\(\d, \d\)`, ""),
	spell(`\bOutside constant\b`, "Real constant"),
	spell(`\bOutside\{\}`, "Real(0)"),
	spell(`\b(constant|outside_cell\(\w+\))\.at\[\d\]\[\w+\]`, "$1"),
	spell(`\n *for \(int side = 0; side < 2; side\+\+\)|(?: \+ side \* LANES| \* sides\(\)| \+ \(row \+ away < 0 \? 0 : LANES\))`, ""),
}

// ending is for planes of stream that end or repeat; of others what lies beyond the grid is loaded as images of those inside.
var ending = []spelling{
	spell(`\n *if \(IMAGES\)[^;]*;(\n *)(?:else )?`, "$1"),
	spell(`\bENDLESS\b`, "wraps(DIMS - 1)"),
}

// dense is for rows and planes that may be parts of longer ones, and such as follow each other. These are what is tuned:
// no instruction of theirs may change with what the others need, and compilers make others of the least change.
var dense = []spelling{
	spell(`, ld[xy] = grid\.ld[xy]`, ""),
	spell(`\(grid\.nx \| grid\.ldx\)`, "grid.nx"),
	spell(`\(FLAT \? 1 : grid\.ldy\) \+ (\w+)\) \* grid\.ldx`, "n.p + $1) * n.x"), // slide.cu
	spell(`\bat\.grid\.ldx\b`, "at.nx"),
	spell(`\bld([xy])\b`, "n$1"),
}

// somePlanes is for launches that compute planes from_plane .. to_plane - 1 alone, allPlanes for such as compute all. That the last is one of the grid the compiler
// must see: jacobi3d of 512^3 is 4 % slower else (H200, CUDA 13.0).
var (
	somePlanes = []spelling{spell(`\bTO_PLANE\(([^()]*)\)`, "min(to_plane, $1)")}
	allPlanes  = []spelling{spell(`\bTO_PLANE\(([^()]*)\)`, "$1"), spell(` - from_plane\b|\bfrom_plane \+ `, "")}
)

// oneType is for arrays that may be stored in types of their own, and such as all have the element type.
var oneType = []spelling{
	spell(`\bconst Reader &__restrict__ `, "const T *__restrict__ "),
	spell(`\b(?:const )?Reader `, "const T *"),
	spell(`\bElemOf<K>`, "T"),
	spell(`\btemplate <class Elem> `, ""),
	spell(`, class Elem>`, ">"),
	spell(`\baligned\(sizeof\(Elem\), (\w+)\)`, "sizeof(T) * $1 < 16 ? sizeof(T) * $1 : 16"),
	spell(`\b(Vector|Part)Of<\w+>`, "$1"),
	spell(`\b(Vector|Part)Of\b`, "$1"),
	spell(`\balignof\((\w+)\)`, "sizeof($1) < 16 ? sizeof($1) : 16"),
	spell(`\bcell_of\((\w+), i\)`, "$1.at[i]"),
	spell(`\belement\(((?:[^()]|\([^()]*\))*)\)`, "$1"),
	spell(`\bpiece_at<Elem>\(i, STRIDE\)`, "i * STRIDE"),
	spell(`\bpart_at<Elem>\(i\)`, "i"),
	spell(`\bSIDE_UNITs\b`, "bytes"),
	spell(`\bSIDE_UNIT\b`, "(int)sizeof(T)"),
	spell(`\bElem\b`, "T"),
	// stream
	spell(`\bring_at\(f, a, j\)`, "(f + copied_slot(a) * ARRAY + j * LANES) * (int)sizeof(Vector)"),
	spell(`\bin_ring\(own, taken, a, j\)`, "own[taken + copied_slot(a) * ARRAY + j * LANES]"),
	spell(`\bof_array\((\w+), a\)`, "$1"),
	// sweep
	spell(`\baligned_16\(sizeof\(\w+\), (\w+)\)`, "sizeof(T) * $1"),
	spell(`\bline_of<K>\(\)`, "LINE"),
	spell(`\bquad_of<K>\(\)`, "QUAD"),
	spell(`\bunits<K>\(((?:[^()]|\([^()]*\))*)\)`, "$1"),
	spell(`\bstored_as<K>\((.*)\); }`, "$1; }"),
	spell(`\bslab_of<K>\(slabs\)\[`, "slabs[S::BEGIN + "),
	spell(`\belements<T>\(([^()]*)\)`, "$1"),
	spell(`\bcopy_part<(\w+)>`, "copy_async<(int)sizeof($1)>"),
	spell(`\bvector_at<K>\(slabs, (.*)\);`, "*reinterpret_cast<const Vector *>(slabs + S::BEGIN + $1);"),
	spell(`\bpart_of\(((?:[^()]|\([^()]*\))*)\)`, "*reinterpret_cast<const Part *>($1)"),
	spell(`\bRing\b`, "T"),
	spell(`\(((?:[^()]|\([^()]*\))*)\)\.as<(\w+)>\((\w+)\)`, "reinterpret_cast<const $2 *>($1)[$3]"),
}

// oneOutput is for fields that may be stored in types of their own, and such as all have the element type.
var oneOutput = []spelling{
	spell(`\bconst Writer &__restrict__ `, "T *__restrict__ "),
	spell(`\bWriter &`, "T *__restrict__ &"),
	spell(`\b(?:const )?Writer `, "T *"),
	spell(`\bput_part\(((?:[^()]|\([^()]*\))*), part\)`, "*reinterpret_cast<Part *>($1) = part"),
	spell(`\((row \+ x)\)\.put\((\w+), word\)`, "reinterpret_cast<Word *>($1)[$2] = word"),
}

// wholeCells is for words of two cells (of stream), and words that are cells.
var wholeCells = []spelling{
	spell(`\bWORDS\b`, "VECTOR"),
	spell(` && !PACKED\b`, ""),
	spell(`\bhalo_row\(`, "halo_x("),
	spell(`\bSum\(([^()]*)\)`, "$1"),
	spell(`\bSum\b`, "Real"),
}

// packedCells is the other way about: where memory's cells are moved one by one, and where they must be in the order of words.
var packedCells = []spelling{
	spell(`\bReal\(-0\.0\)`, "Real(Nothing())"),
	spell(`#pragma unroll\n( *)for \(int i = 0; i < VECTOR; i\+\+\) v\[j\]\[i\] = vector\.at\[i\];`, "\n${1}pack(v[j], vector.at);"),
	spell(`#pragma unroll\n( *)for \(int k = 0; k < VECTOR; k\+\+\) vector\.at\[k\] = v\[0\]\[k\];`, "\n${1}unpack(vector.at, v[0]);"),
	spell(`v\[0\]\[k \+ m\] = part\.at\[m\];\n( *)}`, "vector.at[k + m] = part.at[m];\n${1}} pack(v[0], vector.at);"),
	spell(`(const Reader row = .*;)`, "$1 T cells[VECTOR];"),
	spell(`v\[j\]\[i \+ k\] = part\.at\[k\];\n( *)}`, "cells[i + k] = part.at[k];\n${1}} pack(v[j], cells);"),
	spell(`(const Writer row = plane .*;)`, "$1 T cells[VECTOR]; unpack(cells, v[j]);"),
	spell(`part\.at\[k\] = v\[j\]\[i \+ k\];`, "part.at[k] = cells[i + k];"),
}

// wholeArrays is for arrays of which some are short, and such as all have the grid's extents.
var wholeArrays = []spelling{
	spell(` \+ RIM_[XYZ]\b`, ""),
	spell(` - RIM_[XY] \* \(2 \* HIGH_[XY] \+ 1\)`, ""),
	spell(`\((\w+) \|\| RIM_Y > 0\)`, "$1"),
	spell(`\bcell<(.*), true>\(`, "cell<$1>("),
}

// within finds what stands in parentheses, after the first of them: with parentheses within parentheses.
const within = `((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)`

// folding is for kernels that fold cells where they are stored, storing for others.
var (
	folding = []spelling{spell(` NUMBERS\(,`+within, ",$1"), spell(` NUMBERS\(`+within, " $1")}
	storing = []spelling{spell(` NUMBERS\(`+within, "")}
)

// marked is for what stands in NAME{{...}}NAME: what it says where it is wanted, and nothing, nor its line, elsewhere.
func marked(name string) (wanted, left []spelling) {
	text := name + `\{\{(.*?)\}\}` + name
	return []spelling{spell(`(?s)`+text, "$1")}, []spelling{spell(`(?s)\n? *`+text, "")}
}

// beside is for tiles whose first time step reads copies of the rows next to them, alone for others; retaking for stages that take a plane from
// shared memory again, keepingAll for others; holding for kernels that write held planes as they arrive, computing for others.
var (
	beside, alone        = marked("APRON")
	retaking, keepingAll = marked("AGAIN")
	holding, computing   = marked("HELD")
)

// turning is for tiles that cross the end of a row which repeats within a vector, whole for others.
var (
	turning = []spelling{spell(` TURNS\(`+within, "$1"), spell(`\(index_t\)boundary_index<0>\(0, at\.x, nx\)`, "(index_t)at.x")}
	whole   = []spelling{spell(`\n? *TURNS\(`+within, "")}
)

// sharing is for blocks that share the planes of all tiles, cutting for others.
var (
	sharing = []spelling{spell(`\bSHARES\(`+within, "$1"), spell(`\n *STREAM_TILES\(`+within, "")}
	cutting = []spelling{spell(`\n *SHARES\(`+within, ""), spell(`\bSTREAM_TILES\(`+within, "$1")}
)

// keeping is for parts that L2 is to keep, putting for others.
var (
	keeping = []spelling{spell(`\bkeep_part\(((?:[^()]|\([^()]*\))*), part\)`, "put_kept(reinterpret_cast<Part *>($1), part)")}
	putting = []spelling{spell(`\bkeep_part\(`, "put_part(")}
)

// startingWhole is for rows of any length of which those that begin with a whole vector are copied in vectors, inParts for others.
var (
	startingWhole = []spelling{spell(`WHOLE_ROWS\(`+within, "$1")}
	inParts       = []spelling{spell(`\n *WHOLE_ROWS\(`+within, "")}
)

// mirroredApart is for arrays of which some are mirrored beyond a side where others are not, mirroredAlike for others.
var (
	mirroredApart = []spelling{spell(`\bAPART\(`+within, "$1")}
	mirroredAlike = []spelling{
		spell(`\n? *APART\(`+within, ""),
		spell(`\b(near|other)_row<ARRAY>\(at, ([^()]*)\)`, "at.$1[$2]"),
		spell(`\bstored_index<(\w+)>\(`, "boundary_index<$1>(0, "),
	}
)

// unvalued is for grids of which every point outside stands for a cell.
var unvalued = []spelling{spell(`\n *outside<ENDS, false>\([^;]*\);`, "")}

// Simple is what is simple of a problem, and what is not.
type Simple struct {
	OneRule   bool // at the boundary
	Dense     bool // rows and planes follow each other
	Partial   bool // a launch computes the planes that it is given
	OneType   bool // all arrays are stored in the element type
	OneOutput bool // all fields are
	Folds     bool // what is not: cells are folded where they are stored
	Ends      bool // nor this: cells are asked whether an array that is short has ended
	Valued    bool // nor this: what lies outside the grid may have a value that is not a cell's
	Apart     bool // nor this: some arrays are mirrored beyond a side where others are not
	Traits         // nor any of these
}

// spellings are what files say by each of these, in turn.
var spellings = []struct {
	is            func(Simple) bool
	so, otherwise []spelling
}{
	{func(by Simple) bool { return by.Packed }, packedCells, nil},
	{func(by Simple) bool { return by.Apron }, beside, alone},
	{func(by Simple) bool { return by.Again }, retaking, keepingAll},
	{func(by Simple) bool { return by.Held }, holding, computing},
	{func(by Simple) bool { return by.Turns }, turning, whole},
	{func(by Simple) bool { return by.Apart }, mirroredApart, mirroredAlike},
	{func(by Simple) bool { return by.Shares }, sharing, cutting},
	{func(by Simple) bool { return by.Keeps }, keeping, putting},
	{func(by Simple) bool { return by.WholeRows }, startingWhole, inParts},
	{func(by Simple) bool { return by.Images }, nil, ending},
	{func(by Simple) bool { return by.Ends }, nil, wholeArrays},
	{func(by Simple) bool { return by.Valued }, nil, unvalued},
	{func(by Simple) bool { return by.OneRule }, oneRule, nil},
	{func(by Simple) bool { return by.Dense }, dense, nil},
	{func(by Simple) bool { return by.Partial }, somePlanes, allPlanes},
	{func(by Simple) bool { return by.OneType }, oneType, nil},
	{func(by Simple) bool { return by.OneOutput }, oneOutput, nil},
	{func(by Simple) bool { return by.Folds }, folding, storing},
	{func(by Simple) bool { return by.Packed }, nil, wholeCells},
}

// spelt is a file's text by itself and by what is simple.
var spelt sync.Map

// Spelling is a kernel file's text for what is simple.
func Spelling(text string, by Simple) string {
	type key struct {
		text string
		by   Simple
	}
	at := key{text, by}
	if s, ok := spelt.Load(at); ok {
		return s.(string)
	}
	for _, t := range spellings {
		list := t.so
		if !t.is(by) {
			list = t.otherwise
		}
		for _, s := range list {
			text = s.of(text)
		}
	}
	spelt.Store(at, text)
	return text
}
