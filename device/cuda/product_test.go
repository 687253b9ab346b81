package cuda_test

import (
	"context"
	"testing"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/stencil"
	"stenciltune/study/matmul"
	"stenciltune/study/matmul/matmultest"
)

func TestGPURandomProductsGiveTheJudgesAnswer(t *testing.T) {
	d := openGPU(t)
	cases := matmultest.Draw(t, d.Machine(), min(*flagCases, 200), *flagSeed)
	var ks []kernels.Kernel
	for _, dtype := range matmul.DTypes() {
		ks = append(ks, matmul.Judge(stencil.Problem{Stencil: matmul.Stencil(), DType: dtype, Size: stencil.Size{1, 1, 1}}))
	}
	for _, c := range cases {
		ks = append(ks, c.Kernel)
	}
	bs := compileAll(t, ks, d.Compile)
	judges := map[stencil.DType]device.Binary{}
	for i, dtype := range matmul.DTypes() {
		judges[dtype] = bs[i]
	}
	for i, b := range bs[len(judges):] {
		if err := matmultest.Check(context.Background(), d, cases[i], b, judges[cases[i].Problem.DType], uint32(i)); err != nil {
			t.Error(err)
		}
	}
}
