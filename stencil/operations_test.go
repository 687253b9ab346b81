package stencil

import "testing"

// Counted by hand, and compared with the machine code of NVRTC 11.8 for sm_90 where that is said.
func TestOperationsAreThoseOfAGPU(t *testing.T) {
	for _, c := range []struct {
		what, head, cell string
		block            [3]int
		total, div       int
		chosen           int // minima, maxima and selections of elements
	}{
		{"a product that is added is part of the addition", "", "return get(0) + 0.3 * get(1) * get(-1);", [3]int{1, 1, 1}, 2, 0, 0},
		{"of two products that are added one is", "", "return get(0) * get(1) + get(-1) * get(-1);", [3]int{1, 1, 1}, 2, 0, 0},
		{"one that is added twice is part of both", "", "float p = get(0) * get(1); return (p + get(-1)) * (p - get(-1));", [3]int{1, 1, 1}, 3, 0, 0},
		{"one that is used elsewhere is computed", "", "float p = get(0) * get(1); return p > 1 ? p + get(-1) : get(0);", [3]int{1, 1, 1}, 4, 0, 1},
		{"what occurs twice is computed once", "", "float a = get(1) - get(-1), b = get(1) - get(-1); return a * b;", [3]int{1, 1, 1}, 2, 0, 0},
		{"by a constant is a product", "", "return get(0) / 3;", [3]int{1, 1, 1}, 1, 0, 0},
		{"by a scalar too", "ScalarVariables (float k = 2)", "return get(0) / k;", [3]int{1, 1, 1}, 1, 0, 0},
		{"two quotients by one divisor have one reciprocal", "", "return get(1) / get(0) + get(-1) * get(1) / get(0);", [3]int{1, 1, 1}, 4, 1, 0},
		{"neighbours share what both need", "", "float e = get(1) - get(0), w = get(0) - get(-1); return e * e + w * w;", [3]int{4, 1, 1}, 5 + 4 + 4, 0, 0},
		{"also a function without a branch", "DataType float", "return exp(get(1)) - exp(get(0));", [3]int{4, 1, 1}, 5 + 4, 0, 0},
		{"of a function that branches each has its own", "DataType float", "return sin(get(1)) - sin(get(0));", [3]int{4, 1, 1}, 8 + 4, 0, 0},
		{"in double exponentials branch", "DataType double", "return exp(get(1)) - exp(get(0));", [3]int{4, 1, 1}, 8 + 4, 0, 0},
		{"not across warps' lanes", "", "float e = get(1) - get(0), w = get(0) - get(-1); return e * e + w * w;", [3]int{1, 1, 1}, 4, 0, 0},
		{"both branches", "", "if (get(0) > 0) return get(1) + get(0); return get(-1) - get(0);", [3]int{1, 1, 1}, 4, 0, 1},
		{"what a cell chooses from constants is its own", "", "float n = 1; if (get(1) > 0) n = 2; return get(0) / n;", [3]int{1, 1, 1}, 4, 1, 1},
		{"of a row the longer branch", "", "if (iteration % 2 == 0) return get(1) + get(0); return (get(-1) - get(0)) * get(1);", [3]int{1, 1, 1}, 2, 0, 0},
		{"but both of its cells'", "", "if (x % 2 == 0) return get(1) + get(0); return (get(-1) - get(0)) * get(1);", [3]int{1, 1, 1}, 8, 0, 1},
		{"not what a last cell does", "", "float a = get(0); if (x + 1 == input_size.x) a = a + sqrt(get(-1)) * get(1); return a;", [3]int{1, 1, 1}, 2, 0, 0},
		{"nor what a first one does not", "", "if (x != 0 && x != 1) return get(1) * get(0); return get(-1) / get(0);", [3]int{1, 1, 1}, 3, 0, 0},
		{"what is so of all cells is not asked", "", "if (x < 0 || x + 1 > input_size.x) return get(1) * get(0); return get(-1) - get(0);", [3]int{1, 1, 1}, 1, 0, 0},
		{"a size costs nothing", "", "return fabs(get(1)) + get(0);", [3]int{1, 1, 1}, 1, 0, 0},
		{"a minimum", "", "return fmin(get(1), get(0));", [3]int{1, 1, 1}, 1, 0, 1},
		{"a shift that is added is part of the addition", "DataType uint32", "uint32 m = get(0); return m + m / 65536;", [3]int{1, 1, 1}, 1, 0, 0},
		{"the rest of it is a mask", "DataType uint32", "return get(0) % 8;", [3]int{1, 1, 1}, 1, 0, 0},
		{"of what has a sign a quotient rounds", "DataType int", "return get(0) / 4;", [3]int{1, 1, 1}, 3, 0, 0},
		{"a register has more bits", "DataType int16 Fields (u) ", "int low = min((int)get(1), (int)get(-1)); return low == 3;", [3]int{1, 1, 1}, 3, 0, 1},
		{"what is so is counted by the sum", "DataType int", "return get(0) + (get(1) > 2);", [3]int{1, 1, 1}, 2, 0, 0},
		{"what is the same at every cell", "ScalarVariables (float k = 2)", "return get(0) * (k * k + 1);", [3]int{1, 1, 1}, 1, 0, 0},
	} {
		o := mustParse(t, line(c.cell)+" "+c.head).Operations(0, c.block)
		if o.Total() != c.total || o.Div != c.div || o.Extremes+o.Selections != c.chosen {
			t.Errorf("%s: %s in %v: %d operations, %d reciprocals, %d chosen; want %d, %d, %d", c.what, c.cell, c.block, o.Total(), o.Div, o.Extremes+o.Selections, c.total, c.div, c.chosen)
		}
	}
}

// Values that a thread holds at once, an operation's result beside what it is of.
func TestValuesThatAreAliveAtOnce(t *testing.T) {
	for _, c := range []struct {
		what, head, cell string
		block            [3]int
		late, early      int
	}{
		{"one element", "", "return get(0);", [3]int{1, 1, 1}, 1, 1},
		{"a sum as it grows", "", "return get(-1) + get(0) + get(1);", [3]int{1, 1, 1}, 3, 4},
		{"also a long one", "", "return get(-2) + get(-1) + get(0) + get(1) + get(2);", [3]int{1, 1, 1}, 3, 6},
		{"what is needed later is held", "", "float a = get(-1) * get(0), b = get(0) * get(1), c = get(1) * get(-1); return a * (b * c);", [3]int{1, 1, 1}, 5, 5},
		{"a sign is an operand's", "", "float a = -get(0); return fabs(a) * get(1);", [3]int{1, 1, 1}, 3, 3},
		{"a condition is in no register", "", "return get(-1) > get(0) ? get(1) : get(0);", [3]int{1, 1, 1}, 3, 3},
		{"nor what is the same at every cell", "ScalarVariables (float k = 2)", "return k * k * get(0);", [3]int{1, 1, 1}, 2, 2},
		{"what another cell needs", "", "return get(-1) + get(0) + get(1);", [3]int{4, 1, 1}, 4, 7},
	} {
		if late, early := mustParse(t, line(c.cell)+" "+c.head).Alive(0, c.block); late != c.late || early != c.early {
			t.Errorf("%s: %s in %v: %d, %d if all is read first; want %d, %d", c.what, c.cell, c.block, late, early, c.late, c.early)
		}
	}
}

// A selection of two words is not one of two conditions, and a minimum compares.
func TestSelectionsByWhatTheySelect(t *testing.T) {
	for _, c := range []struct {
		cell                            string
		extremes, selections, decisions int
	}{
		{"return get(0) > 0 ? get(1) : get(-1);", 0, 1, 0},
		{"float a = get(0); if (get(1) > 0) a = get(-1); return a * a;", 0, 1, 0},
		{"if (get(1) > 0) return get(-1); return get(0);", 0, 1, 0},
		{"bool in = 1; if (get(1) > 0) in = 0; if (get(-1) > 0) in = 0; return in ? get(0) : get(1);", 0, 1, 2},
		{"int n = 0; if (get(1) > 0) n = 2; return get(0) * n;", 0, 0, 1},
		{"return fmin(get(0), fmax(get(1), get(-1)));", 2, 0, 0},
	} {
		if o := mustParse(t, line(c.cell)+" DataType double").Operations(0, [3]int{1, 1, 1}); o.Extremes != c.extremes || o.Selections != c.selections || o.Decisions != c.decisions {
			t.Errorf("%s: %d extremes, %d selections, %d decisions", c.cell, o.Extremes, o.Selections, o.Decisions)
		}
	}
}

// Cells of two steps in one: what NVRTC 11.8 makes of a plane step of family stream, and of pipeline, for sm_90 (additions, products and both in one of
// acousticflow 20 a cell, of brusselator 21, of maccormack 44 in two stages) is what is counted.
func TestOperationsOfProgramsAreThoseOfMachineCode(t *testing.T) {
	p := mustParse(t, `NumDimensions 2 StencilSize (1, 1) DataType float Fields (p, u)
		CellValue { float px = get(p, 1, 0) - get(p, -1, 0), ux = get(u, 1, 0) - get(u, -1, 0);
		  return 0.25 * (get(p, -1, 0) + get(p, 1, 0) + get(p, 0, -1) + get(p, 0, 1)) - 0.175 * (0.3 * px + ux),
		         0.25 * (get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1)) - 0.175 * (0.3 * ux + px); }`)
	if o := p.Operations(0, [3]int{4, 1, 1}); o.Total() != 4*12 { // six points each, as weighted sums
		t.Errorf("%d operations of four cells", o.Total())
	}
}
