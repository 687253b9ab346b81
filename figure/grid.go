package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Cell is one of a Grid.
type Cell struct {
	Value float64 // that decides the shade; NaN = none
	Text  string  // that stands in it
}

// Grid is a heat map: dark is low, light is high, what has no value is grey. The highest is
// in bold.
type Grid struct {
	Title         string
	X, Y          string // names of what varies
	Columns, Rows []string
	Cells         []Cell // row after row, each of len(Columns)
}

func (g Grid) size() (width, height vg.Length) {
	return vg.Points(max(80+58*float64(len(g.Columns)), 40+6*float64(len(g.Title)))), vg.Points(70 + 27*float64(len(g.Rows)))
}

// Table has a row for each cell.
func (g Grid) Table() [][]string {
	rows := [][]string{{g.Y, g.X, "value"}}
	for i, c := range g.Cells {
		rows = append(rows, []string{g.Rows[i/len(g.Columns)], g.Columns[i%len(g.Columns)], c.Text})
	}
	return rows
}

func (g Grid) plot() (*plot.Plot, plot.Legend, error) {
	p := frame(g.Title)
	low, high, top := math.Inf(1), math.Inf(-1), -1
	for i, c := range g.Cells {
		if c.Value > high {
			high, top = c.Value, i
		}
		if c.Value < low {
			low = c.Value
		}
	}
	if top < 0 {
		low, high = 0, 1
	}
	if !(high > low) {
		high = low + 1
	}
	heat := plotter.NewHeatMap(raster{g}, viridis(low, high).Palette(shades))
	heat.Min, heat.Max, heat.NaN = low, high, color.Gray{221}
	p.Add(heat)
	words, err := plotter.NewLabels(labels(g))
	if err != nil {
		return nil, legend(), err
	}
	for i, c := range g.Cells {
		ink := color.Color(color.White)
		if math.IsNaN(c.Value) || (c.Value-low)/(high-low) > 0.55 {
			ink = color.Black
		}
		f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(tickSize)}
		if i == top {
			f.Weight = 2 // bold
		}
		words.TextStyle[i] = text.Style{Color: ink, Font: f, XAlign: draw.XCenter, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
	}
	p.Add(words)
	Axis{Label: g.X, Names: g.Columns}.set(&p.X)
	Axis{Label: g.Y, Names: reversed(g.Rows)}.set(&p.Y)
	return p, legend(), nil
}

// reversed has the first row last: axes rise.
func reversed(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[len(list)-1-i] = s
	}
	return out
}

// raster is the cells as a heat map takes them.
type raster struct{ g Grid }

func (r raster) Dims() (columns, rows int) { return len(r.g.Columns), len(r.g.Rows) }
func (r raster) X(c int) float64           { return float64(c) }
func (r raster) Y(row int) float64         { return float64(row) }
func (r raster) Z(c, row int) float64 {
	return r.g.Cells[(len(r.g.Rows)-1-row)*len(r.g.Columns)+c].Value
}

// labels are the cells' texts and where they stand.
type labels Grid

func (l labels) Len() int { return len(l.Cells) }
func (l labels) XY(i int) (x, y float64) {
	return float64(i % len(l.Columns)), float64(len(l.Rows) - 1 - i/len(l.Columns))
}
func (l labels) Label(i int) string { return l.Cells[i].Text }
