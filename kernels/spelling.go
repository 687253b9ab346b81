package kernels

import (
	"regexp"
	"sync"
)

// spelling is what files say of the general case, and how the simple one is said.
type spelling struct {
	general *regexp.Regexp
	simple  string
}

// oneRule is for boundary rules that may differ, and one that holds everywhere.
var oneRule = []spelling{
	{regexp.MustCompile(`\b(?:boundary|held)_index<[^>]*>\(\w+, `), "boundary_index("},
	{regexp.MustCompile(`\bstand_in\(grid, \w+, `), "wrap(grid, "},
	{regexp.MustCompile(`\blow_cell<\d>\(([^()]*)\)`), "-$1"},
	{regexp.MustCompile(`\bhigh_cell<\d>\(([^()]*)\)`), "$1"},
	{regexp.MustCompile(`!WRAPS_ALL\b`), "BOUNDARY != WRAP"},
	{regexp.MustCompile(`\bWRAPS_ROWS\b`), "BOUNDARY == WRAP"},
	{regexp.MustCompile(`\bONE_CONSTANT\b`), "BOUNDARY == CONSTANT"},
	{regexp.MustCompile(`VALUES_AT_ENDS && \(below \|\| above\)`), "below || above"},
	{regexp.MustCompile(`\n *if \(!away && !VALUES_IN_PLANE\) return;`), ""},
	{regexp.MustCompile(`, iteration, ENDS\)`), ", iteration)"},
	{regexp.MustCompile(`\bEDGES_ON_ROWS\b`), "BOUNDARY != WRAP && BOUNDARY != CLAMP && BOUNDARY != MIRROR"},
	{regexp.MustCompile(`\brule\(\w+, (?:\d|DIMS - 1), \d\)`), "BOUNDARY"},
	{regexp.MustCompile(`\bon_edge<\d>\((\w+)\)`), "$1"},
	{regexp.MustCompile(`\btemplate <int AXIS> __device__`), "__device__"},
	{regexp.MustCompile(`\b(tiles|window)<\w+>\(`), "$1("},
	{regexp.MustCompile(`!wraps\([^()]*\)`), "BOUNDARY != WRAP"},
	{regexp.MustCompile(`\bwraps\([^()]*\)`), "BOUNDARY == WRAP"},
	{regexp.MustCompile(`!some\((\w+)\)`), "BOUNDARY != $1"},
	{regexp.MustCompile(`\bsome\((\w+)\)`), "BOUNDARY == $1"},
	{regexp.MustCompile(`\bCONSTANT_ALONE\b`), "BOUNDARY == CONSTANT"},
	{regexp.MustCompile(`\bunsettled<\d>\(\w+, (\w+), ([\w.]+)\)`), "(unsigned)$1 >= (unsigned)$2"},
	{regexp.MustCompile(` && keeps\([^()]*\)`), ""},
	// Of stream, where sums keep constants by side.
	{regexp.MustCompile(`\bLANE_RULES\b`), "BOUNDARY != WRAP && BOUNDARY != EDGE_VALUE"},
	{regexp.MustCompile(`!BY_DISTANCE\b`), "BOUNDARY != MIRROR"},
	{regexp.MustCompile(`\bBY_DISTANCE\b`), "BOUNDARY == MIRROR"},
	{regexp.MustCompile(`!(?:rows|planes)\(([A-Z]+)\)`), "BOUNDARY != $1"},
	{regexp.MustCompile(`\b(?:rows|planes)\(([A-Z]+)\)`), "BOUNDARY == $1"},
	{regexp.MustCompile(`\bgiven\(\d, \d\)`), "BOUNDARY == CONSTANT"},
	{regexp.MustCompile(` (?:&&|\|\|) (?:gives|mirrors)\(\d, \d\)`), ""},
	{regexp.MustCompile(`\bOutside constant\b`), "Real constant"},
	{regexp.MustCompile(`\bOutside\{\}`), "Real(0)"},
	{regexp.MustCompile(`\b(constant|outside_cell\(\w+\))\.at\[\d\]\[\w+\]`), "$1"},
	{regexp.MustCompile(`\n *for \(int side = 0; side < 2; side\+\+\)|(?: \+ side \* LANES| \* sides\(\)| \+ \(row \+ away < 0 \? 0 : LANES\))`), ""},
}

// ending is for planes of stream that end or repeat; of others what lies beyond the grid is loaded as images of those inside.
var ending = []spelling{
	{regexp.MustCompile(`\n *if \(IMAGES\)[^;]*;(\n *)(?:else )?`), "$1"},
	{regexp.MustCompile(`\bENDLESS\b`), "wraps(DIMS - 1)"},
}

// dense is for rows and planes that may be parts of longer ones, and such as follow each other. These are what is tuned:
// no instruction of theirs may change with what the others need, and compilers make others of the least change.
var dense = []spelling{
	{regexp.MustCompile(`, ld[xy] = grid\.ld[xy]`), ""},
	{regexp.MustCompile(`\(grid\.nx \| grid\.ldx\)`), "grid.nx"},
	{regexp.MustCompile(`\(FLAT \? 1 : grid\.ldy\) \+ (\w+)\) \* grid\.ldx`), "n.p + $1) * n.x"}, // slide.cu
	{regexp.MustCompile(`\bat\.grid\.ldx\b`), "at.nx"},
	{regexp.MustCompile(`\bld([xy])\b`), "n$1"},
}

// somePlanes is for launches that compute planes from_plane .. to_plane - 1 alone, allPlanes for such as compute all. That the last is one of the grid the compiler
// must see: jacobi3d of 512^3 is 4 % slower else (H200, CUDA 13.0).
var (
	somePlanes = []spelling{{regexp.MustCompile(`\bTO_PLANE\(([^()]*)\)`), "min(to_plane, $1)"}}
	allPlanes  = []spelling{{regexp.MustCompile(`\bTO_PLANE\(([^()]*)\)`), "$1"}, {regexp.MustCompile(` - from_plane\b|\bfrom_plane \+ `), ""}}
)

// oneType is for arrays that may be stored in types of their own, and such as all have the element type.
var oneType = []spelling{
	{regexp.MustCompile(`\bconst Reader &__restrict__ `), "const T *__restrict__ "},
	{regexp.MustCompile(`\b(?:const )?Reader `), "const T *"},
	{regexp.MustCompile(`\bElemOf<K>`), "T"},
	{regexp.MustCompile(`\btemplate <class Elem> `), ""},
	{regexp.MustCompile(`, class Elem>`), ">"},
	{regexp.MustCompile(`\baligned\(sizeof\(Elem\), (\w+)\)`), "sizeof(T) * $1 < 16 ? sizeof(T) * $1 : 16"},
	{regexp.MustCompile(`\b(Vector|Part)Of<\w+>`), "$1"},
	{regexp.MustCompile(`\b(Vector|Part)Of\b`), "$1"},
	{regexp.MustCompile(`\balignof\((\w+)\)`), "sizeof($1) < 16 ? sizeof($1) : 16"},
	{regexp.MustCompile(`\bcell_of\((\w+), i\)`), "$1.at[i]"},
	{regexp.MustCompile(`\belement\(((?:[^()]|\([^()]*\))*)\)`), "$1"},
	{regexp.MustCompile(`\bpiece_at<Elem>\(i, STRIDE\)`), "i * STRIDE"},
	{regexp.MustCompile(`\bpart_at<Elem>\(i\)`), "i"},
	{regexp.MustCompile(`\bSIDE_UNITs\b`), "bytes"},
	{regexp.MustCompile(`\bSIDE_UNIT\b`), "(int)sizeof(T)"},
	{regexp.MustCompile(`\bElem\b`), "T"},
	// stream
	{regexp.MustCompile(`\bring_at\(f, a, j\)`), "(f + copied_slot(a) * ARRAY + j * LANES) * (int)sizeof(Vector)"},
	{regexp.MustCompile(`\bin_ring\(own, taken, a, j\)`), "own[taken + copied_slot(a) * ARRAY + j * LANES]"},
	{regexp.MustCompile(`\bof_array\((\w+), a\)`), "$1"},
	// sweep
	{regexp.MustCompile(`\baligned_16\(sizeof\(\w+\), (\w+)\)`), "sizeof(T) * $1"},
	{regexp.MustCompile(`\bline_of<K>\(\)`), "LINE"},
	{regexp.MustCompile(`\bquad_of<K>\(\)`), "QUAD"},
	{regexp.MustCompile(`\bunits<K>\(((?:[^()]|\([^()]*\))*)\)`), "$1"},
	{regexp.MustCompile(`\bstored_as<K>\((.*)\); }`), "$1; }"},
	{regexp.MustCompile(`\bslab_of<K>\(slabs\)\[`), "slabs[S::BEGIN + "},
	{regexp.MustCompile(`\belements<T>\(([^()]*)\)`), "$1"},
	{regexp.MustCompile(`\bcopy_part<(\w+)>`), "copy_async<(int)sizeof($1)>"},
	{regexp.MustCompile(`\bvector_at<K>\(slabs, (.*)\);`), "*reinterpret_cast<const Vector *>(slabs + S::BEGIN + $1);"},
	{regexp.MustCompile(`\bpart_of\(((?:[^()]|\([^()]*\))*)\)`), "*reinterpret_cast<const Part *>($1)"},
	{regexp.MustCompile(`\bRing\b`), "T"},
	{regexp.MustCompile(`\(((?:[^()]|\([^()]*\))*)\)\.as<(\w+)>\((\w+)\)`), "reinterpret_cast<const $2 *>($1)[$3]"},
}

// oneOutput is for fields that may be stored in types of their own, and such as all have the element type.
var oneOutput = []spelling{
	{regexp.MustCompile(`\bconst Writer &__restrict__ `), "T *__restrict__ "},
	{regexp.MustCompile(`\bWriter &`), "T *__restrict__ &"},
	{regexp.MustCompile(`\b(?:const )?Writer `), "T *"},
	{regexp.MustCompile(`\bput_part\(((?:[^()]|\([^()]*\))*), part\)`), "*reinterpret_cast<Part *>($1) = part"},
	{regexp.MustCompile(`\((row \+ x)\)\.put\((\w+), word\)`), "reinterpret_cast<Word *>($1)[$2] = word"},
}

// wholeCells is for words of two cells (of stream), and words that are cells.
var wholeCells = []spelling{
	{regexp.MustCompile(`\bWORDS\b`), "VECTOR"},
	{regexp.MustCompile(` && !PACKED\b`), ""},
	{regexp.MustCompile(`\bhalo_row\(`), "halo_x("},
	{regexp.MustCompile(`\bSum\(([^()]*)\)`), "$1"},
	{regexp.MustCompile(`\bSum\b`), "Real"},
}

// packedCells is the other way about: where memory's cells are moved one by one, and where they must be in the order of words.
var packedCells = []spelling{
	{regexp.MustCompile(`\bReal\(-0\.0\)`), "Real(Nothing())"},
	{regexp.MustCompile(`#pragma unroll\n( *)for \(int i = 0; i < VECTOR; i\+\+\) v\[j\]\[i\] = vector\.at\[i\];`), "\n${1}pack(v[j], vector.at);"},
	{regexp.MustCompile(`#pragma unroll\n( *)for \(int k = 0; k < VECTOR; k\+\+\) vector\.at\[k\] = v\[0\]\[k\];`), "\n${1}unpack(vector.at, v[0]);"},
	{regexp.MustCompile(`v\[0\]\[k \+ m\] = part\.at\[m\];\n( *)}`), "vector.at[k + m] = part.at[m];\n${1}} pack(v[0], vector.at);"},
	{regexp.MustCompile(`(const Reader row = .*;)`), "$1 T cells[VECTOR];"},
	{regexp.MustCompile(`v\[j\]\[i \+ k\] = part\.at\[k\];\n( *)}`), "cells[i + k] = part.at[k];\n${1}} pack(v[j], cells);"},
	{regexp.MustCompile(`(const Writer row = plane .*;)`), "$1 T cells[VECTOR]; unpack(cells, v[j]);"},
	{regexp.MustCompile(`part\.at\[k\] = v\[j\]\[i \+ k\];`), "part.at[k] = cells[i + k];"},
}

// wholeArrays is for arrays of which some are short, and such as all have the grid's extents.
var wholeArrays = []spelling{
	{regexp.MustCompile(` \+ RIM_[XYZ]\b`), ""},
	{regexp.MustCompile(` - RIM_[XY] \* \(2 \* HIGH_[XY] \+ 1\)`), ""},
	{regexp.MustCompile(`\((\w+) \|\| RIM_Y > 0\)`), "$1"},
	{regexp.MustCompile(`\bcell<(.*), true>\(`), "cell<$1>("},
}

// within finds what stands in parentheses, after the first of them: with parentheses within parentheses.
const within = `((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)`

// folding is for kernels that fold cells where they are stored, storing for others.
var (
	folding = []spelling{{regexp.MustCompile(` NUMBERS\(,` + within), ",$1"}, {regexp.MustCompile(` NUMBERS\(` + within), " $1"}}
	storing = []spelling{{regexp.MustCompile(` NUMBERS\(` + within), ""}}
)

// marked is for what stands in NAME{{...}}NAME: what it says where it is wanted, and nothing, nor its line, elsewhere.
func marked(name string) (wanted, left []spelling) {
	text := name + `\{\{(.*?)\}\}` + name
	return []spelling{{regexp.MustCompile(`(?s)` + text), "$1"}}, []spelling{{regexp.MustCompile(`(?s)\n? *` + text), ""}}
}

// beside is for tiles whose first time step reads copies of the rows next to them, alone for others; retaking for stages that take a plane from
// shared memory again, keepingAll for others; holding for kernels that write held cells as they arrive, computing for others.
var (
	beside, alone        = marked("APRON")
	retaking, keepingAll = marked("AGAIN")
	holding, computing   = marked("HELD")
)

// turning is for tiles that cross the end of a row which repeats within a vector, whole for others.
var (
	turning = []spelling{{regexp.MustCompile(` TURNS\(` + within), "$1"}, {regexp.MustCompile(`\(index_t\)boundary_index<0>\(0, at\.x, nx\)`), "(index_t)at.x"}}
	whole   = []spelling{{regexp.MustCompile(`\n? *TURNS\(` + within), ""}}
)

// sharing is for blocks that share the planes of all tiles, cutting for others.
var (
	sharing = []spelling{{regexp.MustCompile(`\bSHARES\(` + within), "$1"}, {regexp.MustCompile(`\n *STREAM_TILES\(` + within), ""}}
	cutting = []spelling{{regexp.MustCompile(`\n *SHARES\(` + within), ""}, {regexp.MustCompile(`\bSTREAM_TILES\(` + within), "$1"}}
)

// keeping is for parts that L2 is to keep, putting for others.
var (
	keeping = []spelling{{regexp.MustCompile(`\bkeep_part\(((?:[^()]|\([^()]*\))*), part\)`), "put_kept(reinterpret_cast<Part *>($1), part)"}}
	putting = []spelling{{regexp.MustCompile(`\bkeep_part\(`), "put_part("}}
)

// startingWhole is for rows of any length of which those that begin with a whole vector are copied in vectors, inParts for others.
var (
	startingWhole = []spelling{{regexp.MustCompile(`WHOLE_ROWS\(` + within), "$1"}}
	inParts       = []spelling{{regexp.MustCompile(`\n *WHOLE_ROWS\(` + within), ""}}
)

// mirroredApart is for arrays of which some are mirrored beyond a side where others are not, mirroredAlike for others.
var (
	mirroredApart = []spelling{{regexp.MustCompile(`\bAPART\(` + within), "$1"}}
	mirroredAlike = []spelling{
		{regexp.MustCompile(`\n? *APART\(` + within), ""},
		{regexp.MustCompile(`\b(near|other)_row<ARRAY>\(at, ([^()]*)\)`), "at.$1[$2]"},
		{regexp.MustCompile(`\bstored_index<(\w+)>\(`), "boundary_index<$1>(0, "},
	}
)

// unvalued is for grids of which every point outside stands for a cell.
var unvalued = []spelling{{regexp.MustCompile(`\n *outside<ENDS, false>\([^;]*\);`), ""}}

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
	var list []spelling
	add := func(is bool, so, otherwise []spelling) {
		if !is {
			so = otherwise
		}
		list = append(list, so...)
	}
	add(by.Packed, packedCells, nil)
	add(by.Apron, beside, alone)
	add(by.Again, retaking, keepingAll)
	add(by.Held, holding, computing)
	add(by.Turns, turning, whole)
	add(by.Apart, mirroredApart, mirroredAlike)
	add(by.Shares, sharing, cutting)
	add(by.Keeps, keeping, putting)
	add(by.WholeRows, startingWhole, inParts)
	add(by.Images, nil, ending)
	add(by.Ends, nil, wholeArrays)
	add(by.Valued, nil, unvalued)
	add(by.OneRule, oneRule, nil)
	add(by.Dense, dense, nil)
	add(by.Partial, somePlanes, allPlanes)
	add(by.OneType, oneType, nil)
	add(by.OneOutput, oneOutput, nil)
	add(by.Folds, folding, storing)
	add(by.Packed, nil, wholeCells)
	for _, s := range list {
		text = s.general.ReplaceAllString(text, s.simple)
	}
	spelt.Store(at, text)
	return text
}
