package pipeline

import (
	"strings"
	"testing"

	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// A hidden stage divides by a local, where the stencil's own function divides by a number: the text has what quotients need.
func TestHiddenStagesHaveTheFunctionsTheyCall(t *testing.T) {
	st := stenciltest.Parse(t, "flows", `NumDimensions 2
StencilSize (1, 1)
const float k = 80;
float flow(float d) { return d * exp(-d * d / (k * k)); }
CellValue {
  float c = get(0, 0);
  return c + 0.1 * (flow(get(-1, 0) - c) + flow(get(1, 0) - c) + flow(get(0, -1) - c) + flow(get(0, 1) - c)) +
    0.05 * (flow(get(-1, -1) - c) + flow(get(1, -1) - c) + flow(get(-1, 1) - c) + flow(get(1, 1) - c));
}`)
	p := stencil.Problem{Stencil: st, DType: stencil.Float32, Size: stencil.Size{512, 512, 1}, Steps: 1}
	s := spacetest.Schedule(t, "pipeline/vx=2/vy=1/wp=1/ck=8/pf=1/mb=1/ph=1/hs=1")
	text := Family{}.Kernel(p, s).Source
	if !strings.Contains(text, "quotient(v") {
		t.Fatal("no quotient: the test shows nothing")
	}
	if !strings.Contains(text, "float quotient(float a, float b)") {
		t.Error("quotient is called and not there")
	}
}
