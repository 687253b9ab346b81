package cli

import (
	"os"
	"strings"

	"stenciltune/kernels"
)

// faults are kernel faults that tests inject through TUNE_TEST_FAULT, a list of
// kind:schedule joined by ";". They show that one bad kernel costs a tune no
// more than its deadline.
var faults = map[string]string{
	"hang":      "{ const volatile T *cell = out_0; while (cell[0] != T(12345)) {} }\n",
	"oob":       "if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x == 0) out_0[(index_t)nz * ny * nx] = T(1);\n",
	"nan":       "if (blockIdx.x + blockIdx.y + blockIdx.z == 0) { out_0[0] = T(0) / T(0); return; }\n",
	"thin":      "if ((index_t)nz * ny * nx < 9) { out_0[0] = T(0) / T(0); return; }\n",
	"crash":     "*(volatile T *)0 = T(1);\n",
	"nocompile": "this does not compile;\n",
}

// FaultMutator reads the hook, nil where it is not set.
func FaultMutator() func(kernels.Kernel) kernels.Kernel {
	spec := os.Getenv("TUNE_TEST_FAULT")
	if spec == "" {
		return nil
	}
	inject := map[string]string{}
	for f := range strings.SplitSeq(spec, ";") {
		if kind, schedule, ok := strings.Cut(f, ":"); ok {
			inject[schedule] = faults[kind]
		}
	}
	return func(k kernels.Kernel) kernels.Kernel {
		text, ok := inject[k.Schedule.String()]
		if !ok {
			return k
		}
		const head = "ENTRY(PARAMETERS) {\n"
		i := strings.LastIndex(k.Source, head)
		k.Source = k.Source[:i+len(head)] + text + k.Source[i+len(head):]
		return k
	}
}
