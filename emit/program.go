package emit

import (
	"fmt"
	"strings"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// Program is one kernel with a main: nvcc makes of it a program that launches the
// kernel a number of times (its argument, 10 by default) on the problem's grid, from
// random values, and prints the fastest launch. It is for looking at a kernel with
// profilers and other tools; it checks nothing. What the first launch writes to is not
// filled, so that a tool sees whether the second reads a cell that none has written.
func Program(p stencil.Problem, k kernels.Kernel) []byte {
	st := p.Stencil
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	loads := ""
	if declaresLoads(k) {
		loads = hostLoads
	}
	line("%s#include <cuda_runtime.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n#ifndef TUNE_KERNEL // CUDA before 12 launches by an address without a type\n#define TUNE_KERNEL(kernel) (const void *)kernel\n#endif\n\n%s%s%s\n#line 1 \"program\"", k.Head(), loads, k.Line(), k.Source)
	b.WriteString(stencil.InputSource)
	line(`
template <class E> __global__ void fill(E *array, long long n, unsigned long long first, double low, double step, double quantum) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    array[i] = input_value<E>(1, first + i, low, step, quantum);
}

static unsigned long long filled = 0;

template <class E> static E *empty_array(long long n) {
  E *array = nullptr;
  if (cudaMalloc((void **)&array, n * sizeof(E)) != cudaSuccess) {
    fprintf(stderr, "not enough memory\n");
    exit(1);
  }
  return array;
}

template <class E> static E *random_array(long long n, double low, double step, double quantum) {
  E *array = empty_array<E>(n);
  void *arguments[] = {&array, &n, &filled, &low, &step, &quantum};
  cudaLaunchKernel(TUNE_KERNEL(fill<E>), dim3(1024), dim3(256), arguments, 0, 0);
  filled += n;
  return array;
}

static void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  fprintf(stderr, "%%s\n", cudaGetErrorString(e));
  exit(1);
}

int main(int argc, char **argv) {
  const long long cells = %dLL;
  int nx = %d, ny = %d, nz = %d, iteration = 1;
  const dim3 grid(%d, %d, %d), block(%d, %d, %d);`,
		p.Size.Cells(), p.Size[0], p.Size[1], p.Size[2], k.Launch.Grid[0], k.Launch.Grid[1], k.Launch.Grid[2],
		k.Launch.Block[0], k.Launch.Block[1], k.Launch.Block[2])
	cell := "T" // of fields
	if !kernels.OneOutput(p) {
		cell = "void"
	}
	line("  struct {\n    %s *now[%d], *next[%[2]d];\n  } fields;\n", cell, len(st.Fields))
	scale := func(a int) string { c := p.InputScale(a); return fmt.Sprintf("%g, %g, %g", c.Low, c.Step, c.Quantum) }
	for f := range st.Fields {
		line("  fields.now[%d] = random_array<%[3]s>(cells, %[2]s), fields.next[%[1]d] = empty_array<%[3]s>(cells);", f, scale(f), kernels.ElementC(p, f))
	}
	for i, n := range p.Lengths() {
		a := len(st.Fields) + i
		line("  long long length_%d = %dLL;\n  auto *ro_%[1]d = random_array<%[3]s>(length_%[1]d, %[4]s);", i, n, p.Stored(a).C(), scale(a))
	}
	for i, a := range st.Scalars {
		line("  %s s_%d = %v;", kernels.ScalarC(a), i, a.Default)
	}
	if n := kernels.StepDoubles(st); n > 0 {
		line("  double *step = nullptr;\n  check(cudaMalloc((void **)&step, %d));", 8*n)
	}
	if len(st.Sparse) > 0 {
		line("  long long places = %d;\n  int rows = %d;", stencil.SparsePlaces, stencil.SparseRows)
	}
	for i := range st.Sparse {
		places, table := p.PlaceScale(), p.TableScale(i)
		line("  auto *place_%d = random_array<long long>(places, %g, %g, %g);\n  auto *table_%[1]d = random_array<T>(places * rows, %[5]g, %g, %g);", i,
			places.Low, places.Step, places.Quantum, table.Low, table.Step, table.Quantum)
	}
	all := passes(p, k)
	for _, pass := range all {
		line("  check(cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %d));", pass.Scope+pass.Entry, k.Launch.SharedBytes)
	}
	line("  cudaEvent_t from, to;\n  check(cudaEventCreate(&from)), check(cudaEventCreate(&to));\n  float fastest = 0;")
	line("  for (int launch = 0; launch < (argc > 1 ? atoi(argv[1]) : 10); launch++) {\n    check(cudaEventRecord(from, 0));")
	given := func(list []kernels.Argument, writes []int) string {
		var arguments []string
		for _, a := range list {
			switch a.Kind {
			case kernels.In, kernels.Changed:
				arguments = append(arguments, fmt.Sprintf("&fields.now[%d]", a.Index))
			case kernels.Places:
				arguments = append(arguments, fmt.Sprintf("&place_%d", a.Index))
			case kernels.Table:
				arguments = append(arguments, fmt.Sprintf("&table_%d", a.Index))
			case kernels.PlaceCount:
				arguments = append(arguments, "&places")
			case kernels.TableRows:
				arguments = append(arguments, "&rows")
			case kernels.Out:
				arguments = append(arguments, fmt.Sprintf("&fields.next[%d]", writes[a.Index]))
			default:
				arguments = append(arguments, "&"+a.Name)
			}
		}
		return strings.Join(arguments, ", ")
	}
	launch := func(when string, l kernels.StepLaunch, list []kernels.Argument) {
		line("    "+when+"{\n      void *arguments[] = {%s};\n      check(cudaLaunchKernel(TUNE_KERNEL(%s%s), dim3(%d), dim3(%d), arguments, 0, 0));\n    }",
			given(list, nil), l.Scope, l.Entry, l.Launch.Blocks(), l.Launch.Threads())
	}
	for i, l := range kernels.StepLaunches(p, k.Entry) {
		first := ""
		if i == 0 && k.Launch.Leaves() {
			first = "if (launch == 0) " // later ones find what the last has left
		}
		launch(first, l, kernels.StepArguments(st))
	}
	for _, pass := range all {
		line("    {\n      void *arguments[] = {%s};\n      check(cudaLaunchKernel(TUNE_KERNEL(%s), grid, block, arguments, %d, 0));", given(pass.Arguments, pass.Writes), pass.Scope+pass.Entry, k.Launch.SharedBytes)
		line("      const auto was = fields;")
		for _, m := range pass.Moves {
			line("      fields.%s = was.%s;", m.To, m.From)
		}
		line("    }")
	}
	for i, l := range kernels.SparseLaunches(p, k.Entry, k.Launch.Steps) {
		launch("", l, kernels.SparseArguments(st, i))
	}
	line(`    check(cudaEventRecord(to, 0));
    check(cudaEventSynchronize(to));
    float ms;
    check(cudaEventElapsedTime(&ms, from, to));
    if (launch == 0 || ms < fastest) fastest = ms;
    iteration = 1 + (iteration + %d - 1) %% %d;
  }
  printf("%s: %%.4f ms a launch, %%.1f GCells/s\n", fastest, %d * cells / (fastest * 1e6));
}`, k.Launch.Steps, stencil.Iterations-k.Launch.Steps+1, k.Schedule, k.Launch.Steps)
	return []byte(b.String())
}
