package stencil_test

import (
	"fmt"

	"stenciltune/stencil"
)

func ExampleParse() {
	s, err := stencil.Parse("blur", "blur.sl", `
		NumDimensions 1
		StencilSize (1)
		CellValue { return 0.25 * get(-1) + 0.5 * get(0) + 0.25 * get(1); }`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Points, s.Radius(), s.Ops.Total())
	p := stencil.Problem{Stencil: s, DType: stencil.Float64, Size: stencil.Size{5, 1, 1}}
	fmt.Println(stencil.Reference(p, []float64{0, 0, 4, 0, 0}, 1))

	_, err = stencil.Parse("blur", "blur.sl", "NumDimensions 1\nStencilSize (0)\nCellValue { return get(0) + ; }")
	fmt.Println(err)
	// Output:
	// [[-1 0 0] [0 0 0] [1 0 0]] [1 0 0] 5
	// [0 1 2 1 0]
	// blur.sl:3:29: want a value here, found ";"
	// 	CellValue { return get(0) + ; }
	// 	                            ^
}
