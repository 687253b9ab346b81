package model

// Coefficients are the few numbers of the model that no datasheet gives. They
// hold for every stencil and family alike.
type Coefficients struct {
	DRAM, L2, L1, Shared, Issue float64 // shares of the nominal throughput that kernels reach
	LoadLatency                 float64 // cycles a thread waits for global memory
	RoundLatency                float64 // cycles of one round of shared memory and arithmetic
	BarrierLatency              float64 // cycles of a block barrier
	BlockLatency                float64 // cycles to start a block, find its tile and store
	Norm                        float64 // how terms overlap: 1 is their sum, infinity the largest (roofline)
	Phase                       float64 // how fast resident blocks make up for each other's phases
	L2Knee                      float64 // share of L2 up to which it holds what was read
}

// Fitted are the coefficients in use: least squares of log(measured / predicted)
// over the recorded landscapes of an H200 (jacobi2d 8192x8192 and jacobi3d
// 512x512x512, float32 and float64), fast schedules weighted most. Spearman
// correlation there: 0.84 to 0.90 (docs/model.md). L1 and Shared are not identified
// by these and stay nominal.
var Fitted = Coefficients{
	DRAM: 1, L2: 1, L1: 1, Shared: 1, Issue: 1.2,
	LoadLatency: 540, RoundLatency: 20, BarrierLatency: 520, BlockLatency: 100,
	Norm: 2.18, Phase: 0.455, L2Knee: 0.31,
}
