package figure

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Kind is how a layer is drawn.
type Kind int

// The kinds.
const (
	Points    Kind = iota
	Marks          // large, each layer's of another shape
	Line           // from point to point
	Steps          // level until the next point
	Bars           // to the right, at Y
	Intervals      // from Low to High of X, at Y
)

// manyPoints is from where on points are small.
const manyPoints = 100

// Layer is one series of a chart.
type Layer struct {
	Name      string // in the legend; "" = not there
	Kind      Kind
	X, Y      []float64
	Low, High []float64 // of Intervals
	Colour    int       // place in Palette
	Dashed    bool
	Shade     float64  // instead of a colour: 0 dark to 1 light; 0 = none
	Text      []string // what each point is, in the table
}

// Chart is layers on two axes.
type Chart struct {
	Title         string
	X, Y          Axis
	Layers        []Layer
	Height, Width float64  // inches; 0 = 4, 6.4
	Columns       []string // names of the table's columns: layer, x, y, what; nil = those of the axes
}

func (c Chart) size() (width, height vg.Length) {
	w, h := c.Width, c.Height
	if w == 0 {
		w = 6.4
	}
	if h == 0 {
		h = 4
	}
	return vg.Length(w) * vg.Inch, vg.Length(h) * vg.Inch
}

// Table has a row for each point.
func (c Chart) Table() [][]string {
	head := c.Columns
	if head == nil {
		head = []string{"series", c.X.Label, c.Y.Label, "what"}
	}
	named := func(a Axis, v float64) string {
		if i := int(v); a.Names != nil && v == float64(i) && i >= 0 && i < len(a.Names) {
			return strings.ReplaceAll(a.Names[i], "\n", " ") // a row is one line
		}
		return Number(v)
	}
	rows := [][]string{head}
	for _, l := range c.Layers {
		for i := range l.X {
			row := []string{l.Name, named(c.X, l.X[i]), named(c.Y, l.Y[i])}
			if l.Kind == Intervals {
				row[1] = Number(l.Low[i]) + " to " + Number(l.High[i])
			}
			if l.Text != nil {
				row = append(row, l.Text[i])
			} else {
				row = append(row, "")
			}
			rows = append(rows, trim(row))
		}
	}
	return rows
}

func (c Chart) plot() (*plot.Plot, plot.Legend, error) {
	p, names := frame(c.Title), legend()
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{224}, color.Gray{224}
	p.Add(grid)
	for _, l := range c.Layers {
		if len(l.X) == 0 {
			continue
		}
		drawn, thumb, err := l.plotter()
		if err != nil {
			return nil, names, fmt.Errorf("%s: %w", l.Name, err)
		}
		p.Add(drawn)
		if l.Name != "" {
			names.Add(l.Name, thumb)
		}
	}
	c.X.set(&p.X)
	c.Y.set(&p.Y)
	return p, names, nil
}

// ink is a layer's colour; of shades that of viridis.
func (l Layer) ink() color.Color {
	if l.Shade == 0 {
		return colour(l.Colour)
	}
	k, err := viridis(0, 1).At(math.Min(math.Max(l.Shade, 0), 1))
	if err != nil {
		panic("figure: " + err.Error()) // the shade is within its bounds
	}
	return k
}

// plotter draws the layer, and its sample in the legend.
func (l Layer) plotter() (plot.Plotter, plot.Thumbnailer, error) {
	xys := make(plotter.XYs, len(l.X))
	for i := range l.X {
		xys[i] = plotter.XY{X: l.X[i], Y: l.Y[i]}
	}
	switch l.Kind {
	case Line, Steps:
		line, err := plotter.NewLine(xys)
		if err != nil {
			return nil, nil, err
		}
		line.Color, line.Width = l.ink(), vg.Points(1.5)
		if l.Shade > 0 {
			line.Width = vg.Points(0.4)
		}
		if l.Kind == Steps {
			line.StepStyle = plotter.PostStep
		}
		if l.Dashed {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		return line, line, nil
	case Bars:
		bars, err := plotter.NewBarChart(plotter.Values(l.X), vg.Points(10))
		if err != nil {
			return nil, nil, err
		}
		bars.Horizontal, bars.Color, bars.LineStyle.Width = true, l.ink(), 0
		return bars, bars, nil
	case Intervals:
		e := intervals{XYs: xys}
		for i := range l.X {
			e.XErrors = append(e.XErrors, struct{ Low, High float64 }{l.X[i] - l.Low[i], l.High[i] - l.X[i]})
		}
		bars, err := plotter.NewXErrorBars(e)
		if err != nil {
			return nil, nil, err
		}
		bars.Color, bars.Width = l.ink(), vg.Points(1.5)
		mark, err := plotter.NewScatter(xys)
		if err != nil {
			return nil, nil, err
		}
		mark.GlyphStyle = draw.GlyphStyle{Color: l.ink(), Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		return both{bars, mark}, mark, nil
	}
	points, err := plotter.NewScatter(xys)
	if err != nil {
		return nil, nil, err
	}
	style := draw.GlyphStyle{Color: l.ink(), Radius: vg.Points(2), Shape: draw.CircleGlyph{}}
	thumb := &plotter.Scatter{GlyphStyle: style}
	switch {
	case l.Kind == Marks:
		shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}
		style.Radius, style.Shape = vg.Points(5), shapes[l.Colour%len(shapes)]
		thumb.GlyphStyle = style
	case len(l.X) > manyPoints:
		style.Radius = vg.Points(0.8)
	}
	points.GlyphStyle = style
	return points, thumb, nil
}

// intervals are points with ranges of X.
type intervals struct {
	plotter.XYs
	plotter.XErrors
}

// both draws one thing over another.
type both struct{ under, over plot.Plotter }

func (b both) Plot(c draw.Canvas, p *plot.Plot) {
	b.under.Plot(c, p)
	b.over.Plot(c, p)
}

// DataRange is that of both.
func (b both) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = b.under.(plot.DataRanger).DataRange()
	x, xx, y, yy := b.over.(plot.DataRanger).DataRange()
	return math.Min(x, xmin), math.Max(xx, xmax), math.Min(y, ymin), math.Max(yy, ymax)
}
