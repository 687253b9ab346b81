package stencil

// Iterations is how many steps' worth of values an array that read(i) reads holds:
// programs of the language index it by the iteration. A timing counts its steps
// modulo so many, so that every read finds another element.
const Iterations = 32

// maxIndexed bounds the elements of such an array beyond one a cell.
const maxIndexed = 1 << 27

// Lengths gives the elements of the read-only arrays.
func (p Problem) Lengths() []int64 {
	var n []int64
	cells := p.Size.Cells()
	for _, a := range p.Stencil.ReadOnly {
		switch {
		case a.Axis > 0:
			n = append(n, int64(p.Size[a.Axis-1]))
		case a.Indexed:
			n = append(n, max(cells, min(Iterations*cells, maxIndexed)))
		default:
			n = append(n, cells)
		}
	}
	return n
}

// converted is a number in a floating-point type, as devices convert it: to 16 bits by way of float.
func (d DType) converted(v float64) float64 {
	if d.Size() == 2 {
		v = float64(float32(v))
	}
	return d.Round(v)
}

// Start is what checks and timings start from: the fields and then the read-only
// arrays hold one sequence of random values, and scalars have the problem's.
// Devices compute the same (InputSource), so no grid is ever sent to them. The elements of an array that is stored in
// another type are as they are read.
func Start(p Problem, seed uint32) Data {
	next, arrays := int64(0), 0
	fill := func(n int64, scale Scale, stored DType) []float64 {
		f := make([]float64, n)
		floating, again := stored.Floating(), stored != p.DType && p.DType.Floating()
		for i := range f {
			f[i] = scale.of(random(seed, next), floating)
			if floating {
				f[i] = stored.converted(f[i])
			}
			if again {
				f[i] = p.DType.converted(f[i])
			}
			next++
		}
		return f
	}
	array := func(n int64) Values {
		arrays++
		return valuesOf(p.Stencil.DType, fill(n, p.InputScale(arrays-1), p.Stored(arrays-1)))
	}
	d := Data{Scalars: p.ScalarValues()}
	for range p.Stencil.Fields {
		d.Fields = append(d.Fields, array(p.Size.Cells()))
	}
	for _, n := range p.Lengths() {
		d.ReadOnly = append(d.ReadOnly, array(n))
	}
	for i := range p.Stencil.Sparse {
		one := SparseData{Rows: RowsFor(seed)}
		for range SparsePlaces {
			one.Places = append(one.Places, int64(p.PlaceScale().of(random(seed, next), false)))
			next++
		}
		if p.Stencil.Sparse[i].Sources() {
			one.Table = valuesOf(p.Stencil.DType, fill(SparsePlaces*SparseRows, p.TableScale(i), p.DType))
		} else {
			d.Records = append(d.Records, valuesOf(p.Stencil.DType, make([]float64, SparsePlaces*SparseRows)))
		}
		d.Sparse = append(d.Sparse, one)
	}
	return d
}

// Expected is what Judge wants, without its bounds.
func Expected(p Problem, seed uint32, steps int) []float64 {
	answer, _ := p.answer(Start(p, seed), steps, func(*run) {})
	return answer
}
