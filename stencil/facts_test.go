package stencil

import "testing"

// Arrays that read(i) reads count where their elements differ within a row.
func TestTablesAreWhatDiffersInARow(t *testing.T) {
	for cell, want := range map[string]int{
		"return get(u, 0, 0) + get(k, 0, 0);":                                                      12, // no table
		"return get(u, 0, 0) + read(k, x + 3);":                                                    12,
		"return get(u, 0, 0) + read(k, iteration - 1);":                                            8, // a wavelet
		"int i = iteration % 8; return x == 5 && y == 7 ? read(k, i) : get(u, 0, 0);":              8,
		"int i = 0; if (x > 7) i = 4; return get(u, 0, 0) + read(k, i);":                           12,
		"return get(u, 0, 0) + read(k, (int)get(u, 1, 0));":                                        12,
		"return get(u, 0, 0) + read(k, y % 4);":                                                    8,
		"return get(u, 0, 0) + read(k, y % 4) + read(k, x);":                                       12,
		"return get(u, 0, 0) + read(k, iteration) + get(k, 0, 0);":                                 12,
		"return get(u, 0, 0) + get(line, 1);":                                                      8, // one along x
		"return get(u, 0, 0) + 0.1 * get(line, 1) * read(k, (int)(8 * get(line, 0)) + iteration);": 12,
	} {
		s := mustParse(t, "NumDimensions 2\nStencilSize (1, 1)\nFields (u)\nReadOnly (k, line[x])\nCellValue { "+cell+" }\n")
		if p := (Problem{Stencil: s, DType: Float32, Size: Size{64, 64, 1}}); p.Traffic() != want || p.Compulsory() != want {
			t.Errorf("%s: %d bytes a cell, %d at least, want %d", cell, p.Traffic(), p.Compulsory(), want)
		}
	}
	s := mustParse(t, "NumDimensions 1\nStencilSize (1)\nFields (u)\nReadOnly (k[x])\nCellValue { return get(u, 0) * get(k, 1); }\n")
	if n := (Problem{Stencil: s, DType: Float32, Size: Size{64, 1, 1}}).Traffic(); n != 12 {
		t.Errorf("along the only axis: %d bytes a cell", n)
	}
}
