package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"stenciltune/figure"
)

// Plot is a kind of drawing.
type Plot struct {
	Name string
	Doc  string
	draw func(Tune, Choice) (figure.Figure, error)
}

// Choice is what a drawing is of, where there is a choice; the zero Choice leaves it to the
// data.
type Choice struct {
	Family  string   // "" = the fastest schedule's
	Params  []string // of a heat map: across, up; nil = the two most important
	Seconds bool     // progress against seconds, not evaluations
}

// Plots are the kinds of drawing, as `tune plot` names them.
func Plots() []Plot {
	return []Plot{
		{"progress", "best so far against evaluations, or seconds", progress},
		{"accuracy", "predicted against measured time, by what limits the schedule", accuracy},
		{"roofline", "rates against updates a byte of memory traffic", roofline},
		{"importance", "how much each parameter decides", importances},
		{"heatmap", "the fastest schedule for each pair of values of two parameters", heatmap},
		{"parallel", "all parameters of the schedules, and their rates", parallel},
		{"finals", "medians and intervals of the final schedules", finals},
	}
}

// Figure draws a tune. What the tune has no data for is an error that says so.
func (p Plot) Figure(t Tune, c Choice) (figure.Figure, error) {
	f, err := p.draw(t, c)
	if err != nil {
		return nil, fmt.Errorf("%s of %s on %s: %w", p.Name, t.Problem, t.Device.Name, err)
	}
	return f, nil
}

// title names a drawing.
func (t Tune) title(what string) string { return what + ": " + t.Problem + ", " + t.Device.Name }

// unit is the scale of a tune's rates, and its name.
func (t Tune) unit() (scale float64, name string) {
	top := 0.0
	if t.Best >= 0 {
		top = t.Cells / t.Points.Seconds[t.Best]
	}
	for _, u := range []struct {
		scale float64
		name  string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if top >= 10*u.scale {
			return u.scale, u.name + "Cells/s"
		}
	}
	return 1, "Cells/s"
}

// Schedule is the canonical text of a point.
func (t Tune) Schedule(i int) string {
	f := t.Families[t.Points.Family[i]]
	var b strings.Builder
	b.WriteString(f.Name)
	for k, p := range f.Params {
		if v := t.Points.Values[i][k]; !p.Optional || v != p.Default {
			fmt.Fprintf(&b, "/%s=%d", p.Name, v)
		}
	}
	return b.String()
}

func progress(t Tune, c Choice) (figure.Figure, error) {
	s := t.Search
	if len(s.Point) == 0 {
		return nil, fmt.Errorf("no search is known")
	}
	scale, unit := t.unit()
	chart := figure.Chart{Title: t.title("Best so far"), X: figure.Axis{Label: "evaluations"}, Y: figure.Axis{Label: unit}}
	if c.Seconds {
		chart.X.Label = "seconds"
		if t.Origin == Recording {
			chart.X.Label = "simulated seconds"
		}
	}
	best := figure.Layer{Name: "best so far", Kind: figure.Steps}
	each := figure.Layer{Name: "each schedule", Colour: 1}
	for k, i := range s.Point {
		x := float64(k + 1)
		if c.Seconds {
			x = s.Seconds[k]
		}
		if s.Best[k] > 0 {
			best.X, best.Y = append(best.X, x), append(best.Y, t.Cells/s.Best[k]/scale)
		}
		if v := t.Points.Seconds[i]; v > 0 {
			each.X, each.Y, each.Text = append(each.X, x), append(each.Y, t.Cells/v/scale), append(each.Text, t.Schedule(i))
		}
	}
	if len(best.X) == 0 {
		return nil, fmt.Errorf("the search found nothing")
	}
	level := func(name string, seconds float64, ink int) figure.Layer {
		y := t.Cells / seconds / scale
		return figure.Layer{Name: name, Kind: figure.Line, Dashed: true, Colour: ink, X: []float64{best.X[0], best.X[len(best.X)-1]}, Y: []float64{y, y}}
	}
	chart.Layers = append(thin([]figure.Layer{each}), best)
	if t.Recorded && t.Best >= 0 {
		chart.Layers = append(chart.Layers, level("optimum", t.Points.Seconds[t.Best], 2))
	}
	if i := t.Predicted; i >= 0 {
		chart.Layers = append(chart.Layers, level("model's first choice", cmp.Or(t.Points.Seconds[i], t.Points.Predicted[i]), 3))
	}
	chart.Y.To = 1.05 * slices.Max(slices.Concat(best.Y, each.Y))
	return chart, nil
}

func accuracy(t Tune, _ Choice) (figure.Figure, error) {
	chart := figure.Chart{Title: t.title("Predicted against measured"), Width: 6.8, Height: 5,
		X: figure.Axis{Label: "predicted ms a step", Log: true}, Y: figure.Axis{Label: "measured ms a step", Log: true}}
	p := t.Points
	low, high := math.Inf(1), 0.0
	for l, name := range p.Limiters {
		layer := figure.Layer{Name: name, Colour: l}
		for i := range p.Seconds {
			if p.Limiter[i] != l || p.Seconds[i] <= 0 {
				continue
			}
			x, y := 1e3*p.Predicted[i], 1e3*p.Seconds[i]
			low, high = min(low, x, y), max(high, x, y)
			layer.X, layer.Y, layer.Text = append(layer.X, x), append(layer.Y, y), append(layer.Text, t.Schedule(i))
		}
		chart.Layers = append(chart.Layers, layer)
	}
	if high == 0 {
		return nil, fmt.Errorf("no schedule has a prediction and a time")
	}
	low, high = low/1.1, high*1.1
	chart.X.From, chart.X.To, chart.Y.From, chart.Y.To = low, high, low, high
	chart.Layers = append(thin(chart.Layers), figure.Layer{Name: "as predicted", Kind: figure.Line, Dashed: true, Colour: 8, X: []float64{low, high}, Y: []float64{low, high}})
	return chart, nil
}

// drawnPoints is the most points of a drawing: a file of vectors has a hundred bytes for
// each, and more of them only hide one another.
const drawnPoints = 3000

// thin keeps every n-th point of layers that have too many, and says so in their names.
func thin(layers []figure.Layer) []figure.Layer {
	total := 0
	for _, l := range layers {
		total += len(l.X)
	}
	n := (total + drawnPoints - 1) / drawnPoints
	if n <= 1 {
		return layers
	}
	said := false
	for k, l := range layers {
		few := figure.Layer{Name: l.Name, Colour: l.Colour}
		for i := 0; i < len(l.X); i += n {
			few.X, few.Y, few.Text = append(few.X, l.X[i]), append(few.Y, l.Y[i]), append(few.Text, l.Text[i])
		}
		if !said && len(l.X) > 0 { // an empty layer is not in the legend
			said = true
			few.Name += fmt.Sprintf(" (1 of %d drawn)", n)
		}
		layers[k] = few
	}
	return layers
}

func roofline(t Tune, _ Choice) (figure.Figure, error) {
	r := t.Roofline
	if len(r.Marks) == 0 {
		return nil, fmt.Errorf("bytes and rates are not known")
	}
	scale, unit := t.unit()
	chart := figure.Chart{Title: t.title("Roofline"), X: figure.Axis{Label: "cell updates a byte to or from memory", Log: true}, Y: figure.Axis{Label: unit, Log: true}}
	left, right, low, high := math.Inf(1), 0.0, math.Inf(1), 0.0
	for _, m := range r.Marks {
		left, right = min(left, m.CellsPerByte), max(right, m.CellsPerByte)
		low, high = min(low, m.CellsPerSecond/scale), max(high, m.CellsPerSecond/scale)
	}
	left, right, low = left/2, right*3, low/2
	ridge := right
	if r.Arithmetic > 0 && t.Copy > 0 {
		ridge = r.Arithmetic / t.Copy
		right = max(right, 2*ridge)
		y := r.Arithmetic / scale
		high = max(high, y)
		chart.Layers = append(chart.Layers, figure.Layer{Name: "arithmetic", Kind: figure.Line, Dashed: true, Colour: 7, X: []float64{ridge, right}, Y: []float64{y, y}})
	}
	if t.Copy > 0 {
		at := func(x float64) float64 { return x * t.Copy / scale }
		low, high = min(low, at(left)), max(high, at(ridge))
		chart.Layers = append(chart.Layers, figure.Layer{Name: fmt.Sprintf("copy bandwidth, %s TB/s", figure.Number(t.Copy/1e12)), Kind: figure.Line, Colour: 8, X: []float64{left, ridge}, Y: []float64{at(left), at(ridge)}})
	}
	for k, m := range r.Marks {
		chart.Layers = append(chart.Layers, figure.Layer{Name: string(m.Role), Kind: figure.Marks, Colour: k, X: []float64{m.CellsPerByte}, Y: []float64{m.CellsPerSecond / scale}, Text: []string{m.Schedule}})
	}
	chart.X.From, chart.X.To, chart.Y.From, chart.Y.To = left, right, low, 2*high
	return chart, nil
}

func importances(t Tune, c Choice) (figure.Figure, error) {
	f, err := t.family(c)
	if err != nil {
		return nil, err
	}
	chart := figure.Chart{Title: t.title("Importance of " + t.Families[f].Name + "'s parameters"), X: figure.Axis{Label: "share, %"}, Columns: []string{"series", "share, %", "parameter"}}
	bars := figure.Layer{Kind: figure.Bars}
	for _, i := range t.Importance {
		if i.Family == t.Families[f].Name {
			bars.X, bars.Y = append(bars.X, 100*i.Share), append(bars.Y, 0)
			chart.Y.Names = append(chart.Y.Names, i.Param)
		}
	}
	if len(bars.X) == 0 {
		return nil, fmt.Errorf("fewer than %d schedules of %s have a time", leastPoints, t.Families[f].Name)
	}
	slices.Reverse(bars.X) // the largest on top
	slices.Reverse(chart.Y.Names)
	for i := range bars.Y {
		bars.Y[i] = float64(i)
	}
	chart.Height = 1.2 + 0.26*float64(len(bars.X))
	chart.X.To, chart.Y.From, chart.Y.To = 1.05*slices.Max(bars.X), -0.6, float64(len(bars.X))-0.4
	chart.Layers = []figure.Layer{bars}
	return chart, nil
}

// family is the place of the family that is drawn.
func (t Tune) family(c Choice) (int, error) {
	if c.Family == "" {
		if t.Best < 0 {
			return 0, fmt.Errorf("no schedule has a time")
		}
		return t.Points.Family[t.Best], nil
	}
	var names []string
	for i, f := range t.Families {
		if f.Name == c.Family {
			return i, nil
		}
		names = append(names, f.Name)
	}
	return 0, fmt.Errorf("no schedule is of a family %q: use one of %s", c.Family, strings.Join(names, ", "))
}

// values are those of a family's parameter that occur among timed schedules, ascending.
func (t Tune) values(family, param int) []int {
	var list []int
	for i, f := range t.Points.Family {
		if f == family && t.Points.Seconds[i] > 0 {
			list = append(list, t.Points.Values[i][param])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// varied are the places of a family's parameters with several values, the most important
// first.
func (t Tune) varied(family int) []int {
	var list []int
	for k := range t.Families[family].Params {
		if len(t.values(family, k)) > 1 {
			list = append(list, k)
		}
	}
	rank := func(k int) float64 {
		for _, i := range t.Importance {
			if i.Family == t.Families[family].Name && i.Param == t.Families[family].Params[k].Name {
				return i.Share
			}
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(rank(b), rank(a)) })
	return list
}

func heatmap(t Tune, c Choice) (figure.Figure, error) {
	f, err := t.family(c)
	if err != nil {
		return nil, err
	}
	at := t.varied(f)
	if c.Params != nil {
		at = nil
		for _, name := range c.Params {
			k := slices.IndexFunc(t.Families[f].Params, func(p Param) bool { return p.Name == name })
			if k < 0 {
				return nil, fmt.Errorf("family %s has no parameter %q", t.Families[f].Name, name)
			}
			at = append(at, k)
		}
	}
	if len(at) < 2 {
		return nil, fmt.Errorf("two parameters are needed; of %s's %d have several values", t.Families[f].Name, len(t.varied(f)))
	}
	xs, ys := t.values(f, at[0]), t.values(f, at[1])
	if len(xs) == 0 {
		return nil, fmt.Errorf("no schedule of %s has a time", t.Families[f].Name)
	}
	slices.Reverse(ys)
	scale, unit := t.unit()
	g := figure.Grid{Title: t.title(t.Families[f].Name + ", " + unit), X: t.Families[f].Params[at[0]].Name, Y: t.Families[f].Params[at[1]].Name, Cells: make([]figure.Cell, len(xs)*len(ys))}
	for _, v := range xs {
		g.Columns = append(g.Columns, fmt.Sprint(v))
	}
	for _, v := range ys {
		g.Rows = append(g.Rows, fmt.Sprint(v))
	}
	for i := range g.Cells {
		g.Cells[i].Value = math.NaN()
	}
	for i, seconds := range t.Points.Seconds {
		if t.Points.Family[i] != f || seconds <= 0 {
			continue
		}
		cell := &g.Cells[slices.Index(ys, t.Points.Values[i][at[1]])*len(xs)+slices.Index(xs, t.Points.Values[i][at[0]])]
		if rate := t.Cells / seconds / scale; !(cell.Value >= rate) {
			*cell = figure.Cell{Value: rate, Text: figure.Number(rate)}
		}
	}
	return g, nil
}

// drawnLines is the most lines of parallel coordinates.
const drawnLines = 600

func parallel(t Tune, c Choice) (figure.Figure, error) {
	f, err := t.family(c)
	if err != nil {
		return nil, err
	}
	var list []int
	var rates []float64
	for i, seconds := range t.Points.Seconds {
		if t.Points.Family[i] == f && seconds > 0 {
			list, rates = append(list, i), append(rates, t.Cells/seconds)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no schedule of %s has a time", t.Families[f].Name)
	}
	slices.SortStableFunc(list, func(a, b int) int { return -cmp.Compare(t.Points.Seconds[a], t.Points.Seconds[b]) })
	slices.Sort(rates)
	low, high := rates[0], rates[len(rates)-1]
	scale, unit := t.unit()
	axes := t.varied(f)
	slices.Sort(axes)
	chart := figure.Chart{Title: t.title(t.Families[f].Name), X: figure.Axis{Names: []string{}}, Width: 7, Columns: []string{"series", "axis", "place from 0 to 1", "schedule"},
		Y: figure.Axis{Label: fmt.Sprintf("lowest to highest value; %s: %s to %s", unit, figure.Number(low/scale), figure.Number(high/scale)), From: -0.02, To: 1.02}}
	for _, k := range axes {
		v := t.values(f, k)
		chart.X.Names = append(chart.X.Names, fmt.Sprintf("%s\n%d-%d", t.Families[f].Params[k].Name, v[0], v[len(v)-1]))
	}
	chart.X.Names = append(chart.X.Names, unit)
	n := (len(list) + drawnLines - 1) / drawnLines
	if n > 1 {
		chart.Title += fmt.Sprintf(" (1 of %d drawn)", n)
	}
	for k := (len(list) - 1) % n; k < len(list); k += n { // the fastest is the last, and drawn
		i := list[k]
		share := (t.Cells/t.Points.Seconds[i] - low) / max(high-low, math.SmallestNonzeroFloat64)
		l := figure.Layer{Kind: figure.Line, Shade: max(share, 1e-3)}
		for x, p := range axes {
			v := t.values(f, p)
			place := float64(slices.Index(v, t.Points.Values[i][p])) / float64(len(v)-1)
			l.X, l.Y = append(l.X, float64(x)), append(l.Y, place)
		}
		l.X, l.Y = append(l.X, float64(len(axes))), append(l.Y, share)
		l.Text = slices.Repeat([]string{t.Schedule(i)}, len(l.X))
		chart.Layers = append(chart.Layers, l)
	}
	return chart, nil
}

func finals(t Tune, _ Choice) (figure.Figure, error) {
	chart := figure.Chart{Title: t.title("Final schedules"), X: figure.Axis{Label: "us a step"}, Columns: []string{"role", "95 % interval of the median, us", "schedule", "median, us"}, Width: 8}
	n := len(t.Finals)
	if slices.ContainsFunc(t.Finals, func(f Final) bool { return f.Role == Baseline }) {
		n--
	}
	for k, role := range []Role{Winner, Tie, Close} {
		l := figure.Layer{Name: string(role), Kind: figure.Intervals, Colour: k}
		for _, f := range t.Finals {
			if f.Role == role {
				low, high := cmp.Or(f.Low, f.Seconds), cmp.Or(f.High, f.Seconds)
				l.X, l.Low, l.High = append(l.X, 1e6*f.Seconds), append(l.Low, 1e6*low), append(l.High, 1e6*high)
				l.Y, l.Text = append(l.Y, float64(n-1-len(chart.Y.Names))), append(l.Text, figure.Number(1e6*f.Seconds)) // the first on top
				chart.Y.Names = append(chart.Y.Names, f.Schedule)
			}
		}
		chart.Layers = append(chart.Layers, l)
	}
	if len(chart.Y.Names) == 0 {
		return nil, fmt.Errorf("no schedule was right")
	}
	slices.Reverse(chart.Y.Names)
	chart.Y.From, chart.Y.To = -0.5, float64(n)-0.5
	chart.Height = 1.4 + 0.28*float64(len(chart.Y.Names))
	return chart, nil
}
