package figure_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"stenciltune/figure"
)

// figures are one of each kind, with text that XML must escape.
func figures() map[string]figure.Figure {
	x, y := []float64{1, 10, 100}, []float64{2, 3, 1}
	return map[string]figure.Figure{
		"lines": figure.Chart{Title: "a < b", X: figure.Axis{Label: "x", Log: true}, Y: figure.Axis{Label: "y"}, Layers: []figure.Layer{
			{Name: "steps", Kind: figure.Steps, X: x, Y: y}, {Name: "points", X: x, Y: y, Text: []string{"p", "q", "r"}}, {Name: "nothing"}}},
		"bars": figure.Chart{Y: figure.Axis{Names: []string{"a", "b", "c"}}, Layers: []figure.Layer{{Kind: figure.Bars, X: y, Y: []float64{0, 1, 2}}}},
		"intervals": figure.Chart{Layers: []figure.Layer{{Kind: figure.Intervals, X: y, Low: []float64{1, 2, 0}, High: []float64{3, 4, 2}, Y: []float64{0, 1, 2}},
			{Kind: figure.Line, Shade: 0.5, X: x, Y: y}, {Kind: figure.Marks, X: []float64{1}, Y: []float64{1}}}},
		"grid": figure.Grid{Title: "g", X: "c", Y: "r", Columns: []string{"1", "2"}, Rows: []string{"3", "4"},
			Cells: []figure.Cell{{1, "slow"}, {2, "fast"}, {math.NaN(), "none"}, {1.5, "& so"}}},
		"grid of nothing": figure.Grid{Columns: []string{"1"}, Rows: []string{"1"}, Cells: []figure.Cell{{math.NaN(), "none"}}},
		"grid of one":     figure.Grid{Columns: []string{"1"}, Rows: []string{"1"}, Cells: []figure.Cell{{5, "5"}}},
	}
}

func TestDrawings(t *testing.T) {
	for name, f := range figures() {
		svg, err := figure.SVG(f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if strings.Contains(string(svg), "NaN") {
			t.Errorf("%s: the drawing holds NaN", name)
		}
		var b bytes.Buffer
		if err := figure.Write(&b, f, "png"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := png.Decode(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := figure.Write(io.Discard, figure.Grid{}, "gif"); err == nil || !strings.Contains(err.Error(), "svg, png, csv, text") {
		t.Errorf("of an unknown format: %v", err)
	}
}

// TestGridShades looks at the colours of the lowest, the highest and no value: viridis' ends, as the
// library rounds them.
func TestGridShades(t *testing.T) {
	svg, err := figure.SVG(figures()["grid"])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"#440153", "#FCE724", "#DDDDDD", "font-weight:600", ">slow<", ">&amp; so<"} {
		if !strings.Contains(strings.ToUpper(string(svg)), strings.ToUpper(want)) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}

func TestTables(t *testing.T) {
	var b bytes.Buffer
	for _, name := range []string{"lines", "grid"} {
		if err := figure.Write(&b, figures()[name], "csv"); err != nil {
			t.Fatal(err)
		}
	}
	want := "series,x,y,what\nsteps,1,2\nsteps,10,3\nsteps,100,1\npoints,1,2,p\npoints,10,3,q\npoints,100,1,r\nr,c,value\n3,1,slow\n3,2,fast\n4,1,none\n4,2,& so\n"
	if b.String() != want {
		t.Errorf("tables\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := figure.Write(&b, figures()["bars"], figure.FormatOf("x")); err != nil || !strings.Contains(b.String(), "a") {
		t.Errorf("text %q, %v", b.String(), err)
	}
}

// TestNarrowRangesEnd: numbers that differ in their last bits are drawn.
func TestNarrowRangesEnd(t *testing.T) {
	for _, low := range []float64{85.44, 1e-9, 3e12, -7} {
		done := make(chan error, 1)
		go func() {
			_, err := figure.SVG(figure.Chart{Layers: []figure.Layer{{X: []float64{low, math.Nextafter(low, math.Inf(1))}, Y: []float64{0, 1}}}})
			done <- err
		}()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("from %v on it never ends", low)
		}
	}
}

// TestATitleFits: one that is wider than the drawing has several lines.
func TestATitleFits(t *testing.T) {
	const short, more = "Roofline: jacobi3d/f32/512x512x512 by energy,", "NVIDIA A100-SXM4-80GB, as long as it takes to be wider"
	c := figure.Chart{Title: short, Layers: []figure.Layer{{Name: "one", X: []float64{1, 2}, Y: []float64{0, 1}}}}
	for title, whole := range map[string]bool{short: true, short + " " + more: false} {
		c.Title = title
		svg, err := figure.SVG(c)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(svg), ">"+title+"<") != whole || !strings.Contains(string(svg), ">Roofline: ") || !whole && !strings.Contains(string(svg), " wider<") {
			t.Errorf("%q is drawn in one line, or not:\n%.3000s", title, svg)
		}
	}
}
