// Package figure draws what papers show - lines, points, bars, heat maps - as SVG and PNG,
// by gonum/plot, and gives the same numbers as a table.
//
// Colours are told apart by the colour-blind, and shades keep their order in grey print.
// A figure is in the units that its axes name; it never scales.
package figure

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figure is one drawing: a Chart or a Grid.
type Figure interface {
	// Table is the numbers of the figure, a row each, below a row of names.
	Table() [][]string
	plot() (*plot.Plot, plot.Legend, error)
	size() (width, height vg.Length)
}

// Formats are those that Write knows.
func Formats() []string { return []string{"svg", "png", "csv", "text"} }

// FormatOf is the format that a file's name ends in; "text" for one that names none.
func FormatOf(file string) string {
	switch ext := strings.TrimPrefix(filepath.Ext(file), "."); ext {
	case "", "txt":
		return "text"
	default:
		return ext
	}
}

// Write writes a figure in a format: svg and png draw it, csv and text are its table.
func Write(w io.Writer, f Figure, format string) error {
	switch format {
	case "svg", "png":
		return paint(w, f, format)
	case "csv":
		return csv.NewWriter(w).WriteAll(f.Table())
	case "text":
		t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
		for _, row := range f.Table() {
			if _, err := fmt.Fprintln(t, strings.Join(row, "\t")); err != nil {
				return err
			}
		}
		return t.Flush()
	}
	return fmt.Errorf("no format %q of figures: use one of %s", format, strings.Join(Formats(), ", "))
}

// margin is kept free around a drawing.
const margin = 6 * vg.Inch / 72

// wider is the room for letters over their width: who looks at an SVG may lack the
// typeface, and see wider ones.
const wider = 1.2

// paint draws a figure, its legend at the right.
func paint(w io.Writer, f Figure, format string) error {
	p, legend, err := f.plot()
	if err != nil {
		return err
	}
	width, height := f.size()
	sheet, err := draw.NewFormattedCanvas(width, height, format)
	if err != nil {
		return err
	}
	c := draw.New(sheet)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	beside := wider * legend.Rectangle(c).Size().X
	if beside > 0 {
		legend.Draw(draw.Crop(c, c.Max.X-c.Min.X-beside, 0, 0, -vg.Points(2*titleSize)))
		beside += 2 * margin
	}
	c = draw.Crop(c, 0, -beside, 0, 0)
	p.Title.Text = wrapped(p.Title.Text, func(line string) bool { return wider*p.Title.TextStyle.Width(line) <= c.Size().X })
	p.Draw(c)
	_, err = sheet.WriteTo(w)
	return err
}

// wrapped is a text in lines that fit, as far as its colons and commas allow: no name is broken.
func wrapped(text string, fits func(line string) bool) string {
	lines := []string{}
	for part := range strings.SplitSeq(strings.NewReplacer(", ", ",\n", ": ", ":\n").Replace(text), "\n") {
		if last := len(lines) - 1; last >= 0 && fits(lines[last]+" "+part) {
			lines[last] += " " + part
		} else {
			lines = append(lines, part)
		}
	}
	return strings.Join(lines, "\n")
}

// SVG is a figure as SVG.
func SVG(f Figure) ([]byte, error) {
	var b bytes.Buffer
	err := Write(&b, f, "svg")
	return b.Bytes(), err
}

// Palette is Okabe and Ito's colours ("Color Universal Design", 2008), black last.
var Palette = []color.Color{rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7), rgb(0xe69f00), rgb(0x56b4e9), rgb(0x8c6bb1), rgb(0x7f7f7f), rgb(0)}

func rgb(v uint32) color.Color { return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} }

// colour is a place in Palette, from which it goes round.
func colour(i int) color.Color { return Palette[i%len(Palette)] }

// shades is how many steps of lightness a heat map has.
const shades = 64

// viridis is five points of van der Walt and Smith's palette (2015): even steps of lightness.
func viridis(low, high float64) palette.ColorMap {
	m, err := moreland.NewLuminance([]color.Color{rgb(0x440154), rgb(0x3b528b), rgb(0x21918c), rgb(0x5ec962), rgb(0xfde725)})
	if err != nil {
		panic("figure: " + err.Error()) // its lightness rises
	}
	if !(high > low) {
		high = low + 1
	}
	m.SetMin(low)
	m.SetMax(high)
	return m
}

// Letters, in points of a figure 6 inches wide.
const (
	titleSize = 11
	labelSize = 10
	tickSize  = 9
)

// letters sets all text in one typeface without serifs.
func letters(p *plot.Plot) {
	set := func(f *font.Font, points float64) {
		f.Typeface, f.Variant, f.Size = "Liberation", "Sans", vg.Points(points)
	}
	set(&p.Title.TextStyle.Font, titleSize)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		set(&a.Label.TextStyle.Font, labelSize)
		set(&a.Tick.Label.Font, tickSize)
	}
	p.Title.Padding = vg.Points(6)
}

// Axis is one of a chart's.
type Axis struct {
	Label    string
	Log      bool
	From, To float64  // 0, 0 = what the numbers need
	Names    []string // of the places 0, 1, ... instead of numbers
}

// set makes it an axis of the plot.
func (a Axis) set(x *plot.Axis) {
	x.Label.Text = a.Label
	if a.From != 0 || a.To != 0 {
		x.Min, x.Max = a.From, a.To
	}
	switch {
	case a.Names != nil:
		ticks := make([]plot.Tick, len(a.Names))
		for i, n := range a.Names {
			ticks[i] = plot.Tick{Value: float64(i), Label: n}
		}
		x.Tick.Marker = plot.ConstantTicks(ticks)
		x.Tick.Length = 0
	case a.Log:
		x.Scale, x.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	default:
		x.Tick.Marker = plot.TickerFunc(ticks)
	}
}

// ticks are about five steps of 1, 2 or 5 times a power of ten.
func ticks(low, high float64) (list []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/2)))
	for _, m := range []float64{5, 2, 1} {
		if few := step * m / 10; (high-low)/few <= 8 {
			step = few
			break
		}
	}
	for (high-low)/step > 8 {
		step *= 2
	}
	for k := math.Ceil(low/step - 1e-9); k*step <= high*(1+1e-9) && len(list) <= 8; k++ { // k+1 may be k where the step is less than a number's last bit
		v := k*step + 0 // and not -0
		list = append(list, plot.Tick{Value: v, Label: Number(v)})
	}
	return list
}

// logTicks are 1, 2 and 5 times powers of ten, of more than three decades the powers alone;
// what is between is marked and not named.
func logTicks(low, high float64) (ticks []plot.Tick) {
	few := high > 1000*low
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || !few && (m == 2 || m == 5) {
				t.Label = Number(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// Number prints a number with four digits.
func Number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	if math.Abs(v) >= 1000 && math.Abs(v) < 1e6 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// frame is a plot with its words.
func frame(title string) *plot.Plot {
	p := plot.New()
	letters(p)
	p.Title.Text = title
	p.BackgroundColor = color.White
	return p
}

// legend is an empty legend.
func legend() plot.Legend {
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	l.TextStyle.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(tickSize)}
	l.ThumbnailWidth, l.Padding = vg.Points(18), vg.Points(3)
	return l
}

// trim leaves out what a row has at its end without words.
func trim(row []string) []string {
	for len(row) > 0 && row[len(row)-1] == "" {
		row = row[:len(row)-1]
	}
	return slices.Clip(row)
}
