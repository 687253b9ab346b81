package model

import (
	"fmt"
	"math"
	"slices"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Explanation says why a schedule should take as long as it is predicted to.
type Explanation struct {
	Schedule   space.Schedule   `json:"schedule"`
	Prediction Prediction       `json:"prediction"`
	Steps      int              `json:"steps"`       // time steps a launch advances
	Launches   float64          `json:"launches"`    // for the problem's time steps
	CellsBound float64          `json:"cells_bound"` // cells per second if only memory limited: each array that is needed read, and each changed one written, once for Steps steps
	Conditions []LayerCondition `json:"layer_conditions"`
	Column     *Column          `json:"column,omitempty"` // none if the family has no columns
	Pyramid    *Pyramid         `json:"pyramid,omitempty"`
}

// Alternative is the same schedule with another value of one parameter.
type Alternative struct {
	Value      int     `json:"value"`
	Seconds    float64 `json:"seconds"` // per time step
	DRAMBytes  float64 `json:"dram_bytes"`
	Redundancy float64 `json:"redundancy"`
}

// Column says why this column width.
type Column struct {
	Width        int           `json:"width"`      // cells; 0 = rows of the whole grid
	FormulaL1    float64       `json:"formula_l1"` // the thesis's width for an SM's L1 and its resident threads
	FormulaL2    float64       `json:"formula_l2"` // for L2 and all resident threads
	WarpL1       int           `json:"warp_l1"`    // rounded to whole warps and cache lines
	WarpL2       int           `json:"warp_l2"`
	Alternatives []Alternative `json:"alternatives"`
	Why          string        `json:"why"`
}

// Pyramid says why this time tile (pyramid height).
type Pyramid struct {
	Height       int           `json:"height"`
	Alternatives []Alternative `json:"alternatives"`
	Why          string        `json:"why"`
}

// Explain predicts a schedule of a family and says why.
func Explain(p stencil.Problem, f kernels.Family, s space.Schedule, facts Facts, m machine.Machine) Explanation {
	family, moved := f.Space(p, m), float64(p.Compulsory())
	p = kernels.Fused(p, s)
	w := f.Work(p, s)
	e := Explanation{Schedule: s, Prediction: Predict(p, w, facts, m), Steps: w.Steps, Launches: math.Ceil(float64(p.Steps) / float64(w.Steps))}
	if b := m.DRAMBandwidth(); b > 0 {
		e.CellsBound = b / moved * float64(w.Steps)
	}
	resident := e.Prediction.BlocksPerSM
	wave := math.Min(float64(resident*m.SMs), float64(w.Blocks()))
	e.Conditions = Fitted.layerConditions(p, w, m, wave, resident)
	if width, ok := s.Get("cw"); ok {
		e.Column = column(p, f, family, s, width, resident*w.Launch.Threads(), m)
	}
	if height, ok := s.Get("ph"); ok {
		e.Pyramid = pyramid(p, f, family, s, height, m)
	}
	return e
}

// alternatives predicts a schedule with every legal value of one parameter.
func alternatives(p stencil.Problem, f kernels.Family, family *space.Family, s space.Schedule, name string, m machine.Machine) []Alternative {
	var list []Alternative
	legal := space.New(family)
	for _, q := range family.Params {
		if q.Name != name {
			continue
		}
		for _, v := range q.Values {
			other := s.With(name, v)
			if name == "cw" && v == 0 && s.Int("zz", 0) != 0 {
				other = other.With("zz", 0)
			}
			if legal.Check(other) != nil {
				continue
			}
			w := f.Work(p, other)
			got := Predict(p, w, Facts{}, m)
			if !math.IsInf(got.Seconds, 1) {
				list = append(list, Alternative{v, got.Seconds, got.DRAMBytes / float64(w.Steps), got.Redundancy})
			}
		}
	}
	return list
}

// best is the alternative predicted fastest, and the one of a value.
func best(list []Alternative, value int) (low, own Alternative) {
	low.Seconds = math.Inf(1)
	for _, a := range list {
		if a.Seconds < low.Seconds {
			low = a
		}
		if a.Value == value {
			own = a
		}
	}
	return low, own
}

// column explains a width; threads are those resident on an SM.
func column(p stencil.Problem, f kernels.Family, family *space.Family, s space.Schedule, width, threads int, m machine.Machine) *Column {
	wide, high := kernels.StencilBox(p)
	elem := p.DType.Size()
	c := &Column{
		Width:        width,
		FormulaL1:    kernels.ColumnWidth(m.CacheSM(), threads, wide, high, elem),
		FormulaL2:    kernels.ColumnWidth(int(Fitted.L2Knee*float64(m.L2Bytes)), threads*m.SMs, wide, high, elem),
		Alternatives: alternatives(p, f, family, s, "cw", m),
	}
	c.WarpL1, c.WarpL2 = kernels.WarpColumn(c.FormulaL1, elem), kernels.WarpColumn(c.FormulaL2, elem)
	low, own := best(c.Alternatives, width)
	what := func(v int) string {
		if v == 0 {
			return "rows of the whole grid"
		}
		return fmt.Sprintf("columns of %d", v)
	}
	holds := "L2 holds the stencil's rows of the whole grid, so that columns save no memory traffic and cost index arithmetic"
	if c.FormulaL2 < float64(p.Size[0]) {
		holds = fmt.Sprintf("L2 holds the stencil's rows of columns up to %d cells, the grid is %d wide", c.WarpL2, p.Size[0])
	}
	c.Why = fmt.Sprintf("%s; %s predicted fastest (%s)", holds, what(low.Value), percent(own.Seconds, low.Seconds, what(width)))
	return c
}

func pyramid(p stencil.Problem, f kernels.Family, family *space.Family, s space.Schedule, height int, m machine.Machine) *Pyramid {
	y := &Pyramid{Height: height, Alternatives: alternatives(p, f, family, s, "ph", m)}
	low, own := best(y.Alternatives, height)
	i := slices.IndexFunc(y.Alternatives, func(a Alternative) bool { return a.Value == low.Value })
	y.Why = "no other height is legal here"
	if len(y.Alternatives) > 1 {
		y.Why = fmt.Sprintf("height %d is predicted fastest (%s)", low.Value, percent(own.Seconds, low.Seconds, fmt.Sprint("height ", height)))
		if i > 0 {
			y.Why += "; " + trade(y.Alternatives[i-1], low)
		}
		if i+1 < len(y.Alternatives) {
			y.Why += "; " + trade(low, y.Alternatives[i+1])
		}
	}
	return y
}

// trade says what a larger height saves and costs.
func trade(from, to Alternative) string {
	return fmt.Sprintf("from %d to %d memory traffic a step goes from %.0f to %.0f MB and %.2f to %.2f updates are made for each useful one: %+.0f %% time",
		from.Value, to.Value, from.DRAMBytes/1e6, to.DRAMBytes/1e6, from.Redundancy, to.Redundancy, 100*(to.Seconds/from.Seconds-1))
}

func percent(own, low float64, name string) string {
	switch {
	case own == 0:
		return name + " cannot be resident"
	case own == low:
		return "which this is"
	}
	return fmt.Sprintf("%s %+.0f %%", name, 100*(own/low-1))
}
