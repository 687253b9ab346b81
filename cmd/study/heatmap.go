package main

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// Sizes of a heat map's parts, in pixels.
const (
	heatCellX, heatCellY = 84, 34
	heatLeft, heatTop    = 70, 76
	heatRight            = 20
	heatBottom           = 20
)

// heatmap draws rates as SVG: one row for each value of rows, one column for each
// of columns, dark for slow and light for fast. What has no rate is grey and says
// why.
func heatmap(title string, rows, columns axis, cells []shown) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range cells {
		if c.rate > 0 {
			low, high = min(low, c.rate), max(high, c.rate)
		}
	}
	width := max(heatLeft+heatCellX*len(columns.values)+heatRight, heatLeft+8*len(title))
	height := heatTop + heatCellY*len(rows.values) + heatBottom
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13" text-anchor="middle">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	text := func(x, y int, attributes, s string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d"%s>`, x, y, attributes)
		_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder does not fail
		b.WriteString("</text>\n")
	}
	text(heatLeft, 20, ` text-anchor="start" font-size="15"`, title)
	text(heatLeft+heatCellX*len(columns.values)/2, 44, "", columns.name)
	text(heatLeft/2, heatTop-10, "", rows.name)
	for j, v := range columns.values {
		text(heatLeft+heatCellX*j+heatCellX/2, heatTop-10, "", fmt.Sprint(v))
	}
	top := best(cells)
	for i, v := range rows.values {
		y := heatTop + heatCellY*i
		text(heatLeft/2, y+heatCellY/2+5, "", fmt.Sprint(v))
		for j := range columns.values {
			at := i*len(columns.values) + j
			x := heatLeft + heatCellX*j
			fill, ink := "#dddddd", "#666666"
			if r := cells[at].rate; r > 0 {
				share := 1.0
				if high > low {
					share = (r - low) / (high - low)
				}
				fill, ink = heatColour(share), "white"
				if share > 0.55 {
					ink = "black"
				}
			}
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", x, y, heatCellX-1, heatCellY-1, fill)
			weight := fmt.Sprintf(` fill="%s"`, ink)
			if at == top {
				weight += ` font-weight="bold"`
			}
			text(x+heatCellX/2, y+heatCellY/2+5, weight, cells[at].text)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// heatColours are five points of viridis (van der Walt and Smith, 2015): even steps
// of lightness, so that grey print keeps the order.
var heatColours = [5][3]float64{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}

// heatColour is the colour of a share between 0 and 1.
func heatColour(share float64) string {
	at := share * float64(len(heatColours)-1)
	i := min(int(at), len(heatColours)-2)
	var c [3]int
	for k := range c {
		c[k] = int(math.Round(heatColours[i][k] + (at-float64(i))*(heatColours[i+1][k]-heatColours[i][k])))
	}
	return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
}
