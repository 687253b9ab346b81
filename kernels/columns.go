package kernels

import (
	"slices"

	"stenciltune/machine"
	"stenciltune/stencil"
)

// ColumnWidth is the widest column whose rows a cache holds while t threads are in
// flight: c = (M - u (s_h s_w + t)) / (s_h u), the asymptote of the exact
// u (c + s_w)(s_h + ceil(t/c)) bytes of cells of u (Prasetya 2022, section 4.3). Not positive if the cache is too small.
func ColumnWidth(cacheBytes, t, stencilWide, stencilHigh, elem int) float64 {
	u := float64(elem)
	return (float64(cacheBytes) - u*float64(stencilHigh*stencilWide+t)) / (float64(stencilHigh) * u)
}

// WarpColumn rounds a column's width down to whole warps and whole cache lines of
// 128 bytes: the thesis measured that low multiples of 32 win whatever the formula
// says, because any other width splits a warp's loads over two rows (figures of
// section 5.1: 9x9 on 4096x4096, 1.29 ms at 32, 1.95 ms at 33). 0 if not even one fits.
func WarpColumn(width float64, elem int) int {
	step := max(32, 128/elem)
	return max(0, int(width)/step*step)
}

// StencilBox is the cells that a stencil spans on x, and the rows that it spans where planes are
// folded into the vertical axis (Prasetya 2022, section 4.1.2).
func StencilBox(p stencil.Problem) (wide, high int) {
	st := p.Stencil
	return st.Low[0] + st.High[0] + 1, st.Low[1] + st.High[1] + 1 + (st.Low[2]+st.High[2])*p.Size[1]
}

// Columns are widths of columns to try: the usual ones, and where the grid is wider those of the
// formula, for an SM's L1 under as many threads as it holds and for L2 under those of all SMs, in
// whole warps.
func Columns(p stencil.Problem, m machine.Machine, usual []int) []int {
	wide, high := StencilBox(p)
	widths := slices.Clone(usual)
	for _, cache := range []struct {
		bytes   int64
		threads int
	}{{int64(m.CacheSM()), m.MaxThreadsSM}, {m.L2Bytes, m.MaxThreadsSM * m.SMs}} {
		c := WarpColumn(ColumnWidth(int(cache.bytes), cache.threads, wide, high, p.DType.Size()), p.DType.Size())
		if c > 0 && c < p.Size[0] && !slices.Contains(widths, c) {
			widths = append(widths, c)
		}
	}
	slices.Sort(widths)
	return widths
}
