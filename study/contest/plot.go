package contest

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// Sizes of a plot, in pixels, and its axes' ranges: simulated seconds and regrets,
// both on log scales.
const (
	plotWidth, plotHeight  = 760, 460
	plotLeft, plotRight    = 70, 190
	plotTop, plotBottom    = 50, 50
	plotFrom               = 0.1
	plotLow, plotHigh      = 0.001, 20.0
	plotSteps              = 200
	plotInnerX, plotInnerY = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
	plotLegendDY           = 18
)

// plotColours are Okabe and Ito's (2008), told apart by the colour-blind too.
var plotColours = []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#888888"}

// Plot draws, as SVG, each entrant's median regret against simulated time.
func (f *Field) Plot(rows []Row, o Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s">`, x, y, anchor)
		_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder does not fail
		b.WriteString("</text>\n")
	}
	line := func(x1, y1, x2, y2 float64, colour string) {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
	}
	x := func(t float64) float64 {
		return plotLeft + plotInnerX*math.Log(t/plotFrom)/math.Log(o.Time/plotFrom)
	}
	y := func(r float64) float64 {
		r = min(max(r, plotLow), plotHigh)
		return plotTop + plotInnerY*math.Log(plotHigh/r)/math.Log(plotHigh/plotLow)
	}
	bottom, right := float64(plotHeight-plotBottom), float64(plotWidth-plotRight)
	text(plotLeft, 22, "start", fmt.Sprintf("%s: best so far above the optimum, median of %d seeds", f.Name, o.Seeds))
	for _, r := range []float64{plotLow, 0.01, 0.02, 0.05, 0.1, 1, 10} {
		line(plotLeft, y(r), right, y(r), "#dddddd")
		label := fmt.Sprintf("%g %%", 100*r)
		if r == plotLow {
			label = "0"
		}
		text(plotLeft-6, y(r)+4, "end", label)
	}
	for _, t := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100} {
		if t <= o.Time {
			line(x(t), plotTop, x(t), bottom, "#dddddd")
			text(x(t), bottom+16, "middle", fmt.Sprintf("%g", t))
		}
	}
	text(plotLeft+plotInnerX/2, bottom+36, "middle", "simulated seconds of compiling and measuring")
	for i, row := range rows {
		colour := plotColours[i%len(plotColours)]
		dash := ""
		if i >= len(plotColours) {
			dash = ` stroke-dasharray="5 3"`
		}
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2"%s points="`, colour, dash)
		for k := range plotSteps + 1 {
			t := plotFrom * math.Pow(o.Time/plotFrom, float64(k)/plotSteps)
			v := spread(row.runs, func(r Run) float64 { return r.at(t, f.first()) })[0]
			fmt.Fprintf(&b, "%.1f,%.1f ", x(t), y(v))
		}
		b.WriteString(`"/>` + "\n")
		ly := float64(plotTop + plotLegendDY*i)
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="2"%s/>`+"\n", right+12, ly, right+36, ly, colour, dash)
		text(right+42, ly+4, "start", row.Entrant.String())
	}
	b.WriteString("</svg>\n")
	return b.String()
}
