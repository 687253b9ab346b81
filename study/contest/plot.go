package contest

import (
	"fmt"
	"math"

	"stenciltune/figure"
)

// Ranges of a plot: simulated seconds, and percent above the optimum. Who has the optimum stands
// on the lower edge, for a log axis has no 0.
const (
	plotFrom          = 0.1
	plotLow, plotHigh = 0.1, 2000.0
	plotSteps         = 200
)

// Plot is each entrant's median regret against simulated time.
func (f *Field) Plot(rows []Row, o Options) figure.Chart {
	chart := figure.Chart{Title: fmt.Sprintf("%s: best so far, median of %d seeds", f.Name, o.Seeds), Width: 7.6, Height: 4.6,
		X: figure.Axis{Label: "simulated seconds of compiling and measuring", Log: true, From: plotFrom, To: o.Time},
		Y: figure.Axis{Label: "% above the optimum", Log: true, From: plotLow, To: plotHigh}}
	for i, row := range rows {
		l := figure.Layer{Name: row.Entrant.String(), Kind: figure.Line, Colour: i, Dashed: i >= len(figure.Palette)}
		for k := range plotSteps + 1 {
			t := plotFrom * math.Pow(o.Time/plotFrom, float64(k)/plotSteps)
			v := 100 * quantileOf(row.runs, func(r Run) float64 { return r.at(t, f.first()) }, 0.5)
			l.X, l.Y = append(l.X, t), append(l.Y, min(max(v, plotLow), plotHigh))
		}
		chart.Layers = append(chart.Layers, l)
	}
	return chart
}
