package trace

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// Margins of the SVG, in pixels.
const (
	left, right, top, bottom = 64, 24, 76, 36
	legendSwatch             = 12
	letterWidth              = 7 // about, at font size 12
)

// SVG draws the diagram: time to the right, addresses downwards.
func (d *Diagram) SVG(title string) string {
	scale, rows := d.scale(), d.elements()
	legend := d.legend()
	need := len(title) * 8
	words := 0
	for _, s := range legend {
		words += len(styles[s].name)*letterWidth + legendSwatch + 18
	}
	width := left + max(scale*len(d.Columns), need, words) + right
	height := top + scale*rows + bottom
	var b strings.Builder
	text := func(x, y int, attributes, s string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d"%s>`, x, y, attributes)
		_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder does not fail
		b.WriteString("</text>\n")
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	text(left, 20, ` font-size="15"`, title)
	at := left
	for _, s := range legend {
		fmt.Fprintf(&b, `<rect x="%d" y="36" width="%d" height="%d" fill="%s" stroke="#999999" stroke-width="0.5"/>`+"\n", at, legendSwatch, legendSwatch, styles[s].hex())
		text(at+legendSwatch+4, 46, "", styles[s].name)
		at += len(styles[s].name)*letterWidth + legendSwatch + 18
	}
	fmt.Fprintf(&b, `<g transform="translate(%d %d) scale(%d)" shape-rendering="crispEdges">`+"\n", left, top, scale)
	for s := InL2; s <= FromMemory; s++ {
		if path := d.path(s); path != "" {
			fmt.Fprintf(&b, `<path fill="%s" d="%s"/>`+"\n", styles[s].hex(), path)
		}
	}
	b.WriteString("</g>\n")
	row := 0
	for _, a := range d.Arrays {
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#444444"/>`+"\n", left, top+scale*row, scale*len(d.Columns), scale*int(a.Elements))
		text(left-8, top+scale*row+12, ` text-anchor="end"`, a.Name)
		row += int(a.Elements)
	}
	text(left-8, top+scale*rows, ` text-anchor="end"`, "address")
	text(left, top+scale*rows+20, "", fmt.Sprintf("time: %d %ss, one after the other", len(d.Columns), d.Grain))
	b.WriteString("</svg>\n")
	return b.String()
}

// legend is the states that can occur.
func (d *Diagram) legend() (list []State) {
	for _, s := range []State{FromMemory, HitL2, HitL1, Brought, InL1, InL2} {
		if styles[s].level <= d.Levels {
			list = append(list, s)
		}
	}
	return list
}

func (s style) hex() string {
	return fmt.Sprintf("#%02x%02x%02x", s.colour[0], s.colour[1], s.colour[2])
}

// path is the cells of a state as rectangles: runs along time, as many rows high as
// have the same run.
func (d *Diagram) path(s State) string {
	type run struct{ from, to int }
	var b strings.Builder
	open := map[run]int{} // row in which it began
	end := func(r run, row int) {
		fmt.Fprintf(&b, "M%d %dh%dv%dh-%dz", r.from, open[r], r.to-r.from, row-open[r], r.to-r.from)
		delete(open, r)
	}
	var before []run
	for row := range d.elements() + 1 {
		var now []run
		if row < d.elements() {
			for t := 0; t < len(d.Columns); t++ {
				if d.Columns[t][row] != s {
					continue
				}
				r := run{t, t + 1}
				for r.to < len(d.Columns) && d.Columns[r.to][row] == s {
					r.to++
				}
				now = append(now, r)
				t = r.to
			}
		}
		again := map[run]bool{}
		for _, r := range now {
			again[r] = true
		}
		for _, r := range before {
			if !again[r] {
				end(r, row)
			}
		}
		for _, r := range now {
			if _, ok := open[r]; !ok {
				open[r] = row
			}
		}
		before = now
	}
	return b.String()
}
