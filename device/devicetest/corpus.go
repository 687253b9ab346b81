package devicetest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/device/verify"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

// Mutation makes right kernels of a family wrong: where a source has Old, it gets New in the first place.
type Mutation struct {
	Family  string // or "reduce", the kernel of Reduce, which cases of every family prove
	Stencil string // of the catalogue, or of corpusStencils
	Name    string // what is wrong
	Old     string
	New     string
	Unseen  string // why the host's emulation cannot show it; "" = it can
}

func (m Mutation) String() string { return fmt.Sprintf("%s, %s: %s", m.Family, m.Stencil, m.Name) }

// corpusStencils have what no short stencil of the catalogue has: other rules at the edges, with weights that
// tell every neighbour from every other.
var corpusStencils = map[string]string{
	"fixed2d":      "NumDimensions 2 StencilSize (1, 1) Boundary fixed " + fivePoints,
	"mirror2d":     "NumDimensions 2 StencilSize (1, 1) Boundary mirror " + fivePoints,
	"around2d":     "NumDimensions 2 StencilSize (1, 1) Boundary (wrap, constant 2) " + fivePoints,
	"powers2d":     "NumDimensions 2 StencilSize (1, 1) InputRange (0.5, 1) Boundary mirror CellValue { return 0.3 + 0.2 * pow(get(0, 0), 7) + 0.1 * pow(get(1, 0), -1.5) + 0.1 * pow(get(0, -1), 1.4) + 0.2 * exp(-0.7 * get(-1, 0)); }",
	"logs2d":       "NumDimensions 2 StencilSize (1, 1) InputRange (0.5, 2) Boundary mirror CellValue { return 1 + 0.2 * log(get(0, 0)) + 0.3 * log2(1 + get(1, 0)) + 0.1 * log10(get(0, -1)); }",
	"wrap2d":       "NumDimensions 2 StencilSize (1, 1) Boundary wrap " + fivePoints,
	"edge2d":       "NumDimensions 2 StencilSize (1, 1) CellValue { float c = get(0, 0); return 0.9 * c + 0.1 / sqrt(1 + get(-1, 0) * get(-1, 0) + get(1, 0) * c + get(0, -1) * c * c + get(0, 1) * get(0, 1)); } EdgeValue { return y < 0 ? 100.0 : 0.0; }",
	"beside2d":     "NumDimensions 2 StencilSize (1, 1) ReadOnly (k) Fields (u) Boundary constant 2 CellValue { return 0.4 * get(u, 0, 0) + 0.2 * get(u, 1, 0) + 0.3 * get(k, -1, 0) + 0.1 * get(k, 1, 1); }",
	"along2d":      "NumDimensions 2 StencilSize (1, 1) ReadOnly (k) Fields (u) Boundary constant 2 CellValue { return 0.3 * get(u, 0, 0) + 0.2 * get(u, 1, 0) + 0.1 * get(u, -1, 0) + 0.3 * get(k, -1, 0) + 0.1 * get(k, 1, 0); }",
	"across2":      "NumDimensions 3 StencilSize (1, 7, 1) Boundary (clamp, (fixed, mirror), clamp) CellValue { return 0.25 * (get(0, 0, 0) + get(0, 7, 0)) + 0.2 * sin(get(0, 0, 0)) + 0.1 * get(0, 0, -1); }",
	"across":       "NumDimensions 3 StencilSize (3, 3, 1) Boundary ((mirror, fixed), (mirror, fixed), clamp) CellValue { return 0.25 * (get(0, 0, 0) + get(-3, 0, 0)) + 0.2 * sin(get(0, 0, 0)) + 0.1 * get(0, -3, 0) + 0.1 * get(0, 0, -1); }",
	"mirror3d":     "NumDimensions 3 StencilSize (1, 1, 1) Boundary mirror CellValue { return 0.2 * get(0, 0, 0) + 0.2 * get(-1, 0, 0) + 0.1 * get(1, 0, 0) + 0.2 * get(0, -1, 0) + 0.1 * get(0, 1, 0) + 0.15 * get(0, 0, -1) + 0.05 * get(0, 0, 1); }",
	"fixed3d":      "NumDimensions 3 StencilSize (1, 1, 1) Boundary fixed CellValue { return 0.2 * get(0, 0, 0) + 0.2 * get(-1, 0, 0) + 0.1 * get(1, 0, 0) + 0.2 * get(0, -1, 0) + 0.1 * get(0, 1, 0) + 0.15 * get(0, 0, -1) + 0.05 * get(0, 0, 1); }",
	"planesheld3d": "NumDimensions 3 StencilSize (1, 1, 1) Boundary (clamp, mirror, fixed) CellValue { return 0.14 * (get(0, 0, 0) + get(-1, 0, 0) + get(1, 0, 0) + get(0, -1, 0) + get(0, 1, 0) + get(0, 0, -1) + get(0, 0, 1)); }",
	"fixedbox3d":   "NumDimensions 3 StencilSize (1, 1, 1) DataType double Boundary fixed CellValue { return 0.125 * (get(0, 0, 0) + get(-1, 0, 0) + get(1, 0, 0) + get(0, -1, 0) + get(0, 1, 0) + get(0, 1, 1) + get(1, -1, -1) + get(-1, 0, 1)); }",
	"fixedwide2d":  "NumDimensions 2 StencilSize (2, 2) Boundary fixed CellValue { return 0.2 * get(0, 0) + 0.2 * get(-2, 0) + 0.1 * get(2, 0) + 0.2 * get(0, -2) + 0.1 * get(0, 2) + 0.15 * get(0, 1) + 0.05 * get(1, 0); }",
	"fixedeven2d":  "NumDimensions 2 StencilSize (1, 1) Boundary fixed CellValue { return 0.2 * (get(0, 0) + get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1)); }",
	"mirroreven2d": "NumDimensions 2 StencilSize (1, 1) Boundary mirror CellValue { return 0.2 * (get(0, 0) + get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1)); }",
	"mirrorpair2d": "NumDimensions 2 StencilSize (1, 1) Boundary mirror CellValue { return 0.3 * get(0, 0) + 0.15 * (get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1)) + 0.1 * get(1, 1); }",
	"constant3d":   "NumDimensions 3 StencilSize (1, 1, 1) Boundary constant 1.5 CellValue { return 0.2 * get(0, 0, 0) + 0.1 * get(1, 1, 0) + 0.15 * get(-1, -1, 0) + 0.1 * get(0, 1, 1) + 0.2 * get(0, 0, -1) + 0.05 * get(1, -1, -1) + 0.1 * get(-1, 1, 1); }",
	"edgesum2d":    "NumDimensions 2 StencilSize (1, 1) CellValue { return 0.4 * get(0, 0) + 0.2 * get(-1, 0) + 0.1 * get(1, 0) + 0.2 * get(0, -1) + 0.1 * get(0, 1); } EdgeValue { return 0.5 * value + 0.01 * (x + 2 * y + iteration % 3); }",
	"edgesum3d":    "NumDimensions 3 StencilSize (1, 1, 1) CellValue { return 0.2 * get(0, 0, 0) + 0.2 * get(-1, 0, 0) + 0.1 * get(1, 0, 0) + 0.2 * get(0, -1, 0) + 0.1 * get(0, 1, 0) + 0.15 * get(0, 0, -1) + 0.05 * get(0, 0, 1); } EdgeValue { return 0.5 * value + 0.01 * (x + 2 * y + 3 * z + iteration % 3); }",
	"fixedsin3d":   "NumDimensions 3 StencilSize (2, 2, 2) Boundary fixed " + lopsidedSin,
	"sidesheld3d":  "NumDimensions 3 StencilSize (2, 2, 2) Boundary x (fixed, clamp) Boundary y (clamp, fixed) Boundary z (clamp, fixed) " + lopsidedSin,
	"apart3d":      "NumDimensions 3 StencilSize (1, 1, 1) Fields (u, v) Boundary u mirror Boundary v clamp CellValue { return 0.1 * sin(get(v, 0, 0, 0)) + 0.2 * get(u, -1, 0, 0) + 0.1 * get(v, 1, 0, 0) + 0.1 * get(u, 0, -1, 0) + 0.2 * get(v, 0, 1, 0) + 0.1 * get(u, 0, 0, -1) + 0.1 * get(v, 0, 0, 1), 0.3 * sin(get(u, 0, 0, 0)) + 0.1 * get(v, -1, 0, 0) + 0.2 * get(u, 1, 0, 0) + 0.1 * get(v, 0, -1, 0) + 0.1 * get(u, 0, 1, 0) + 0.1 * get(v, 0, 0, -1) + 0.05 * get(u, 0, 0, 1); }",
	"rows3d":       "NumDimensions 3 StencilSize (1, 1, 1) Fields (u, g) Temporary (g) Stages (along, across) CellValue along (g) { return 0.5 * sin(get(u, 0, 0, 0)) + 0.2 * get(u, -1, 0, 0) + 0.1 * get(u, 0, 0, 1); } CellValue across (u) { return 0.4 * get(g, 0, 0, 0) + 0.3 * get(g, 0, -1, 0) + 0.2 * sqrt(1 + get(g, 0, 1, 0) * get(g, 0, 1, 0)); }",
	"boxes2d":      "NumDimensions 2 StencilSize (2, 1) Boundary mirror CellValue { float s = 0; for (int j = -1; j <= 1; j++) for (int i = -2; i <= 2; i++) s += (3 - abs(i)) * sin(get(i, j)); return 0.3 * get(0, 0) + 0.02 * s * s; }",
	"boxes3d":      "NumDimensions 3 StencilSize (1, 1, 1) Fields (u, v) Stages (squares, sines) CellValue squares (v) { float s = 0; for (int k = -1; k <= 1; k++) for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++) s += get(u, i, j, k) * get(u, i, j, k); return 0.01 * s; } CellValue sines (u) { float s = 0; for (int k = -1; k <= 1; k++) for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++) s += sin(get(v, i, j, k)); return 0.4 * get(u, 0, 0, 0) + 0.02 * s; }",
	"slopes3d":     "NumDimensions 3 StencilSize (2, 1, 0) Fields (u, v) CellValue (u) { float s = 0; for (int i = -2; i <= 2; i++) s += (get(u, i, 0, 0) - get(u, i, -1, 0)) / (1.5 + sin(get(u, i, -1, 0))); return 0.3 * get(v, 0, 0, 0) + 0.2 * s; }",
	"wrapxy2d":     "NumDimensions 2 StencilSize (1, 1) Boundary wrap CellValue { return 0.5 * sin(get(0, 0)) + 0.2 * get(-1, 0) + 0.1 * get(1, 0) + 0.1 * get(0, -1) + 0.1 * get(0, 1) + 0.01 * (x % 7) + 0.02 * (y % 5); }",
	"wider3d":      "NumDimensions 3 StencilSize (1, 1, 1) Fields (u: float64) ReadOnly (k: float64) CellValue { return 0.5 * get(u, 0, 0, 0) * get(u, 0, 0, 0) + 0.1 * (get(u, 0, 0, 1) + get(u, 1, 0, 0)) * get(k, -1, 0, 0); }",
	"stored3d":     "NumDimensions 3 StencilSize (1, 1, 1) Boundary wrap InputRange (0.5, 1.5) StepScalar sum s { return (x < 2 * y + z ? 1 : 0.5) * get(0, 0, 0); } StepScalar max most { return get(0, 0, 0); } StepScalar w { return s / (most * input_size.x * input_size.y * input_size.z); } CellValue { return get(0, 0, 0) * (1 - w) + w * 0.2 * (get(1, 0, 0) + get(-1, 0, 0) + get(0, 1, 0) + get(0, -1, 0)) + w * w * sin(get(0, 0, 1)); }",
	"older2d":      "NumDimensions 2 StencilSize (1, 1) Fields (old, u) InputRange (0.5, 1.5) StepScalar max most { return fabs(get(old, 0, 0) - get(u, 0, 0)); } CellValue { return get(u, 0, 0), 0.4 * get(u, 0, 0) + 0.3 * get(u, 1, 0) / (1 + most) + 0.2 * get(old, 0, -1); }",
	"survey2d":     "NumDimensions 2 StencilSize (1, 1) Boundary clamp Fields (u) CellValue { return 0.4 * get(0, 0) + 0.2 * (get(1, 0) + get(-1, 0)); } Sources s (u) { return 0.5 * get(0, 0) + value; } Receivers r { return get(1, -1); }",
	"steps3d":      "NumDimensions 3 StencilSize (1, 1, 1) Boundary wrap StepScalar sum s { return get(0, 0, 0) * get(1, 0, 0); } StepScalar mean { return s / input_size.x / input_size.y / input_size.z; } StepScalar max far { return fabs(get(0, 0, 0) - mean); } CellValue { return mean * get(0, 0, 0) + 0.1 * get(-1, 0, 0) + 0.1 * (get(1, 0, 0) + get(0, -1, 0) + get(0, 1, 0) + get(0, 0, 1) + get(0, 0, -1)) * far; }",
	"edgetime2d":   "NumDimensions 2 StencilSize (1, 1) CellValue { return 0.5 * sin(get(0, 0)) + 0.2 * get(-1, 0) + 0.1 * get(1, 0) + 0.1 * get(0, -1) + 0.1 * get(0, 1); } EdgeValue { return 0.5 * value + 0.1 * (iteration % 4) + 0.01 * x; }",
	"counted2d":    "NumDimensions 2 StencilSize (1, 1) StepScalar max most { return fabs(get(0, 0)) + 0.1 * (iteration % 7); } StepScalar k { return 1 / most; } CellValue { return k * (0.4 * get(0, 0) + 0.3 * get(1, 0) + 0.2 * get(0, -1)); }",
	"rowsbefore3d": "NumDimensions 3 StencilSize (2, 2, 2) Boundary fixed CellValue { return 0.3 * get(0, 0, 0) + 0.1 * get(-1, 0, 0) + 0.1 * get(1, 0, 0) + 0.1 * get(0, -1, -1) + 0.15 * get(0, 1, 1) + 0.1 * get(0, -1, 0) + 0.1 * get(0, 0, 2); }",
	"lopsided2d":   "NumDimensions 2 StencilSize (2, 2) CellValue { return 0.4 * get(0, 0) + 0.2 * get(-2, 0) + 0.1 * get(1, 0) + 0.2 * get(0, -1) + 0.1 * get(0, 2); }",
	"laterows3d":   "NumDimensions 3 StencilSize (1, 1, 1) ReadOnly (k) Fields (u, f) Temporary (f) Stages (one, two) CellValue one (f) { return 0.3 * sin(get(u, 0, 0, 0)) + 0.2 * get(u, 0, 1, 0) + 0.1 * get(u, 0, 0, 1); } CellValue two (u) { return 0.3 * get(f, 0, 0, 1) + 0.2 * get(f, 0, -1, 0) + 0.1 * sin(get(k, 0, 1, 0)) + 0.1 * get(k, 0, 0, 1); }",
	"lopsided3d":   "NumDimensions 3 StencilSize (2, 2, 2) CellValue { return 0.3 * get(0, 0, 0) + 0.2 * get(-2, 0, 0) + 0.1 * get(1, 0, 0) + 0.1 * get(0, -1, 0) + 0.1 * get(0, 2, 0) + 0.1 * get(0, 0, -2) + 0.1 * get(0, 0, 1); }",
	"sides3d":      "NumDimensions 3 StencilSize (1, 1, 1) Boundary x (constant 2, clamp) Boundary y (mirror, constant 2) Boundary z (clamp, constant 1.5) CellValue { return 0.1 * get(0, 0, 0) + 0.1 * get(-1, 1, 0) + 0.2 * get(-1, 0, 0) + 0.1 * get(1, 0, 0) + 0.2 * get(0, -1, 0) + 0.1 * get(0, 1, 0) + 0.15 * get(0, 0, -1) + 0.05 * get(0, 0, 1); }",
	"corners2d":    "NumDimensions 2 StencilSize (1, 1) Boundary x (constant 2, constant 1) Boundary y (clamp, mirror) CellValue { return 0.3 * get(0, 0) + 0.2 * get(-1, -1) + 0.1 * get(1, 1) + 0.15 * get(1, -1) + 0.25 * get(-1, 1); }",
	"cornersin3d":  "NumDimensions 3 StencilSize (1, 1, 1) Boundary x (constant 2, clamp) Boundary y (clamp, constant 1) Boundary z (mirror, constant 3) CellValue { return 0.2 * sin(get(0, 0, 0)) + 0.2 * get(-1, -1, 0) + 0.1 * get(1, 1, 0) + 0.15 * get(1, -1, 0) + 0.1 * get(-1, 1, 0) + 0.1 * get(0, 1, -1) + 0.1 * get(0, 1, 1) + 0.05 * get(0, 0, 1); }",
	"types3d":      "NumDimensions 3 StencilSize (1, 1, 1) ReadOnly (k: float16, wall: uint8) Fields (u) InputRange wall {0, 200} CellValue { return (get(wall, 0, 0, 0) > 100 ? 0.5 : 1) * (0.3 * get(u, 0, 0, 0) + 0.2 * get(u, -1, 0, 0) + 0.1 * get(u, 1, 0, 0) + 0.1 * get(u, 0, -1, 0) + 0.1 * get(u, 0, 1, 0) + 0.1 * get(u, 0, 0, -1) + 0.1 * sin(get(u, 0, 0, 1))) + 0.1 * get(k, 1, 0, 0) + 0.1 * get(k, 0, -1, 0) + 0.05 * get(k, 0, 0, 0); }",
	"fields2d":     "NumDimensions 2 StencilSize (1, 1) Fields (u: uint8, v: int16, h) InputRange u (0, 200) InputRange v (-300, 300) EdgeValue u { return 1.5137 * value + 40.21; } EdgeValue v { return 0.3217 * value - 0.7131 * x; } EdgeValue h { return 0.5 * value; } CellValue { return 1.2345 * get(u, 0, 0) + 0.1234 * get(v, -1, 0) - 20.37, 0.5123 * get(v, 0, 0) - 0.7321 * get(u, 1, 0) + 0.1471 * get(v, 0, 1), 0.3 * get(h, 0, 0) + 0.2 * get(u, 0, -1); }",
	"bytes2d":      "NumDimensions 2 StencilSize (1, 1) Fields (u: uint8, h: float16) InputRange u (0, 200) CellValue { return 0.7 * get(u, 0, 0) + 0.2 * get(u, 1, 0) + 0.09 * get(u, 0, -1) + 0.53, 0.3 * get(h, 0, 0) + 0.2 * sin(get(h, 0, -1)); }",
	"levels2d":     "NumDimensions 2 StencilSize (1, 1) Fields (u, v: float16) CellValue { return 0.5 * sin(get(u, 0, 0)) + 0.2 * get(u, -1, 0) + 0.1 * get(u, 0, 1) - 0.3 * get(v, 1, 0), get(u, 0, 0); }",
	"staggered2d":  "NumDimensions 2 StencilSize (1, 1) Fields (p, u, v) Short (p x y, u y, v x) Boundary p constant 2 Stages (velocity, pressure) CellValue velocity (u, v) { return 0.5 * get(u, 0, 0) - 0.3 * (get(p, 0, 0) - get(p, -1, 0)), 0.5 * get(v, 0, 0) - 0.4 * (get(p, 0, 0) - get(p, 0, -1)); } CellValue pressure (p) { return 0.6 * get(p, 0, 0) - 0.2 * (get(u, 1, 0) - get(u, 0, 0)) - 0.1 * (get(v, 0, 1) - get(v, 0, 0)); }",
	"staggered3d":  "NumDimensions 3 StencilSize (1, 1, 1) Fields (p, u) Short (p x, u y z) Boundary p constant 2 CellValue (p, u) { return 0.3 * get(p, 0, 0, 0) + 0.2 * get(u, 1, 0, 0) - 0.1 * get(u, 0, 0, 0) + 0.1 * get(p, 1, 0, 0) + 0.1 * get(p, 0, 1, 0), 0.5 * get(u, 0, 0, 0) + 0.2 * get(p, 0, 0, 0) + 0.1 * get(p, -1, 0, 0) + 0.1 * get(u, 0, 1, 0) + 0.1 * get(u, 0, 0, 1); }",
	"surveyed2d":   "NumDimensions 2 StencilSize (1, 1) Fields (u: uint8) InputRange u (0, 200) CellValue { return 0.7 * get(0, 0) + 0.2 * get(1, 0) + 0.1 * get(0, -1) + 5; } Sources s (u) { return 0.9 * get(0, 0) + 200 * value; } Receivers r { return get(1, -1); }",
	"shots2d":      "NumDimensions 2 StencilSize (1, 1) ReadOnly (m) Fields (u, old) InputRange (0.1, 1) CellValue { return 0.5 * sin(get(u, 0, 0)) + 0.2 * get(u, 1, 0) + 0.2 * get(u, 0, -1) - 0.1 * get(old, 0, 0), get(u, 0, 0); } Sources s (u) { return 0.5 * get(u, 0, 0) + get(m, 0, 0) * value; } Receivers r { return get(u, 0, 0) + 0.01 * get(m, 0, 0); }",
	"shots3d":      "NumDimensions 3 StencilSize (1, 1, 1) Boundary wrap Fields (u) InputRange (0.1, 1) CellValue { return 0.5 * sin(get(0, 0, 0)) + 0.2 * get(1, 0, 0) + 0.2 * get(0, -1, 0) + 0.1 * get(0, 0, 1); } Sources s (u) { return 0.5 * get(0, 0, 0) + value; } Receivers r { return get(0, 0, 0); }",
	"packmirror2d": "NumDimensions 2 StencilSize (2, 1) DataType float16 compute float16 Boundary mirror " + packedPoints,
	"packconst2d":  "NumDimensions 2 StencilSize (2, 1) DataType float16 compute float16 Boundary constant 2 " + packedPoints,
	"sums2d":       "NumDimensions 2 StencilSize (1, 1) Boundary wrap " + fivePoints + " Reduce sum { return value * value + 0.1 * get(1, 0) * get(0, -1); }",
	"changes2d":    "NumDimensions 2 StencilSize (1, 1) Boundary constant 2 " + fivePoints + " Reduce max { return fabs(value - get(0, 0)); }",
	"below3d":      "NumDimensions 3 StencilSize (1, 1, 1) Boundary mirror CellValue { return 0.5 * get(0, 0, 0) + 0.3 * get(1, 0, 0) + 0.2 * get(0, 1, -1); } Reduce max { return value - 3 - 0.1 * fabs(get(-1, 0, 1)); }",
	"above1d":      "NumDimensions 1 StencilSize (1) CellValue { return 0.5 * get(0) + 0.3 * get(1); } Reduce min { return value + 3 + 0.01 * iteration; }",
	"counts2d":     "NumDimensions 2 StencilSize (1, 1) DataType int InputRange (0, 2000000000) Boundary clamp CellValue { return get(1, 0) / 2 + get(0, -1) / 2; } Reduce sum { return value; }",
	"guarded2d":    "NumDimensions 2 StencilSize (1, 1) InputRange (0.5, 1.5) StepScalar sum s { return get(0, 0); } StepScalar max most { return get(0, 0); } CellValue { if (s > 1000000 || most > 1000) return 0; return 0.4 * get(0, 0) + 0.3 * get(1, 0) + 0.2 * get(0, -1); }",
	"guarded3d":    "NumDimensions 3 StencilSize (1, 1, 1) Boundary wrap InputRange (0.5, 1.5) StepScalar sum s { return get(0, 0, 0); } StepScalar max most { return get(0, 0, 0); } CellValue { if (s > 1000000 || most > 1000) return 0; return 0.3 * get(0, 0, 0) + 0.3 * get(1, 0, 0) + 0.2 * get(0, -1, 0) + 0.1 * get(0, 0, 1); }",
	"colours2d":    "NumDimensions 2 StencilSize (1, 1) Stages (a, b, c, d) Color a (x + 2 * y) % 4 == 0 Color b (x + 2 * y) % 4 == 1 Color c (x + 2 * y) % 4 == 2 Color d (x + 2 * y) % 4 == 3 CellValue a " + fiveBraced + " CellValue b " + fiveBraced + " CellValue c " + fiveBraced + " CellValue d " + fiveBraced,
}

const (
	fivePoints = "CellValue " + fiveBraced
	fiveBraced = "{ return 0.4 * get(0, 0) + 0.2 * get(-1, 0) + 0.1 * get(1, 0) + 0.2 * get(0, -1) + 0.1 * get(0, 1); }"
)

const packedPoints = "CellValue { return 0.3 * get(0, 0) + 0.2 * get(-2, 0) + 0.15 * get(-1, 0) + 0.1 * get(1, 0) + 0.05 * get(2, 0) + 0.12 * get(0, -1) + 0.08 * get(0, 1); }"

const lopsidedSin = "CellValue { return 0.3 * sin(get(0, 0, 0)) + 0.2 * get(-2, 0, 0) + 0.1 * get(1, 0, 0) + 0.1 * get(0, -1, 0) + 0.1 * get(0, 2, 0) + 0.1 * get(0, 0, -2) + 0.1 * get(0, 0, 1); }"

// proofCases is how many cases `tune verify` draws if it is not told.
const proofCases = 100

// defaultCases yields the cases that `tune verify` would prove a family by, of each element type its own, these by turns.
func defaultCases(t testing.TB, m machine.Machine, name, family string, seed uint64) iter.Seq[verify.Case] {
	t.Helper()
	var st *stencil.Stencil
	if text, ok := corpusStencils[name]; ok {
		st = stenciltest.Parse(t, name, text)
	} else {
		st = stenciltest.Lookup(t, name)
	}
	types := []stencil.DType{st.DType}
	if st.DType.Floating() && st.DType != stencil.Float64 {
		types = append(types, stencil.Float64)
	}
	source := verify.NewSource(m, all.Families())
	at, each := make([]int, len(types)), make([]int, len(types)) // a family's first case, and how many lie between them
	for k, dtype := range types {
		able, _ := source.Able(stencil.Problem{Stencil: st, DType: dtype})
		at[k] = slices.IndexFunc(able, func(f kernels.Family) bool { return f.Name() == family })
		each[k] = len(able)
		if family == "reduce" {
			at[k], each[k] = 0, 1
		}
		if at[k] < 0 {
			t.Fatalf("%s cannot run %s in %s", family, name, dtype)
		}
	}
	return func(yield func(verify.Case) bool) {
		for n := 0; n < proofCases; n++ {
			for k, dtype := range types {
				i := at[k] + n*each[k]
				if i >= proofCases {
					continue
				}
				cases, err := source.Cases(stencil.Problem{Stencil: st, DType: dtype}, seed, i, 1)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range cases {
					if !yield(c) {
						return
					}
				}
			}
		}
	}
}

// StencilCases are the first n cases that `tune verify` would prove a family by, on a stencil of the catalogue or of the corpus.
func StencilCases(t testing.TB, m machine.Machine, name, family string, n int, seed uint64) (cases []verify.Case) {
	t.Helper()
	for c := range defaultCases(t, m, name, family, seed) {
		if cases = append(cases, c); len(cases) == n {
			break
		}
	}
	return cases
}

// suspect is a mutation on its way through a proof.
type suspect struct {
	Mutation
	number int
	cases  []verify.Case // that are left, its text applied
	tried  int
}

// newSuspect applies a mutation to the cases whose sources have its text.
func newSuspect(t testing.TB, m Mutation, number int, cases []verify.Case) *suspect {
	t.Helper()
	s := &suspect{Mutation: m, number: number}
	for _, c := range cases {
		if m.in(c) {
			s.cases = append(s.cases, s.apply(c))
		}
	}
	if len(s.cases) == 0 {
		t.Errorf(gone, s, m.Old)
	}
	return s
}

// gone is said of a mutation without a text to change.
const gone = "%s: no source has its text any more: %s"

// in tells whether one of a case's kernels has the text.
func (m Mutation) in(c verify.Case) bool {
	return strings.Contains(c.Kernel.Source, m.Old) || c.Remainder != nil && strings.Contains(c.Remainder.Source, m.Old) || c.Reduction != nil && strings.Contains(c.Reduction.Kernel.Source, m.Old)
}

// apply makes a case wrong. The kernels get an entry of their own, so that those of several mutations can share a program.
func (s *suspect) apply(c verify.Case) verify.Case {
	mutate := func(k kernels.Kernel) kernels.Kernel {
		entry := fmt.Sprintf("%s_m%d", k.Entry, s.number)
		k.Source = strings.ReplaceAll(strings.Replace(k.Source, s.Old, s.New, 1), k.Entry, entry)
		k.Entry = entry
		return k
	}
	c.Kernel = mutate(c.Kernel)
	if c.Remainder != nil {
		r := mutate(*c.Remainder)
		c.Remainder = &r
	}
	if c.Reduction != nil {
		r := *c.Reduction
		r.Kernel, c.Reduction = mutate(r.Kernel), &r
	}
	return c
}

// suspects applies mutations to the cases of a proof. One whose text no source has fails the test.
func suspects(t testing.TB, m machine.Machine, mutations []Mutation, seed uint64) (list []*suspect) {
	t.Helper()
	drawn := map[[2]string][]verify.Case{}
	for i, one := range mutations {
		of := [2]string{one.Stencil, one.Family}
		if drawn[of] == nil {
			drawn[of] = slices.Collect(defaultCases(t, m, one.Stencil, one.Family, seed))
		}
		list = append(list, newSuspect(t, one, i, drawn[of]))
	}
	return list
}

// CheckTexts fails if no source of a proof has the text of one of the mutations any more.
func CheckTexts(t testing.TB, m machine.Machine) {
	t.Helper()
	left := map[[2]string][]Mutation{}
	for _, one := range Mutations() {
		of := [2]string{one.Stencil, one.Family}
		left[of] = append(left[of], one)
	}
	for of, list := range left {
		for c := range defaultCases(t, m, of[0], of[1], 1) {
			if list = slices.DeleteFunc(list, func(m Mutation) bool { return m.in(c) }); len(list) == 0 {
				break
			}
		}
		for _, one := range list {
			t.Errorf(gone, one, one.Old)
		}
	}
}

// CheckCorpus proves the wrong kernels of mutations as `tune verify` proves right ones under a seed, and fails if of one it
// finds no fault that has these words in it.
func CheckCorpus(t testing.TB, d device.Device, mutations []Mutation, seed uint64, words string) {
	t.Helper()
	left := suspects(t, d.Machine(), mutations, seed)
	all := len(left)
	for len(left) > 0 {
		var next []*suspect
		var cases []verify.Case
		for _, s := range left {
			if s.tried == len(s.cases) {
				t.Errorf("%s survives %d cases", s, s.tried)
				continue
			}
			cases = append(cases, s.cases[s.tried])
			s.tried++
			next = append(next, s)
		}
		left = nil
		i := 0
		err := verify.Run(context.Background(), d, cases, func(c verify.Case, r verify.Result) bool {
			s := next[i]
			i++
			switch fault := r.Fault(); {
			case r.Failure != nil && r.Failure.Status == timing.CompileError:
				t.Errorf("%s: its source does not compile: %s\n%s", s, fault, r.Failure.Log)
			case fault != "" && strings.Contains(fault, words):
				t.Logf("%s: caught by case %d of %d, %s: %s", s, s.tried, len(s.cases), r.Name(c), fault)
			default:
				left = append(left, s)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d mutations", all)
}
