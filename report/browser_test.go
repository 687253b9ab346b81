package report_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stenciltune/internal/chromium"
	"stenciltune/report"
)

var shots = flag.String("shots", "", "write screenshots of the page, light, dark and as wide as a phone, into this `folder`")

// Bounds of a page of a recording of 30,000 schedules. It opens in under 2 s on a machine of
// its own (docs/report.md); a test's machine may be busy.
const (
	mostBytes = 8e6
	mostTime  = 10 * time.Second
)

// written is the page of a recording, as a file.
func written(t *testing.T, r report.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Page(&b, "<a> & b", report.Data{Tool: "tune test", Time: time.Unix(0, 0).UTC(), Tunes: []report.Tune{report.Make(r)}}, ""); err != nil {
		t.Fatal(err)
	}
	if b.Len() > mostBytes {
		t.Errorf("the page has %d bytes", b.Len())
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}

const chart = `document.querySelector('[aria-label^="Parallel coordinates"]')`

func TestPageInABrowser(t *testing.T) {
	b := chromium.Open(t)
	url := written(t, recorded(t, "../bench/h200/landscapes/nvidia-h200_heat3d_f32_384x384x384.jsonl.gz"))
	b.View(1280, 900, false)
	if took := b.Load(url); took > mostTime {
		t.Errorf("the page took %v to open", took)
	} else {
		t.Logf("opened in %v", took)
	}
	var title string
	if b.Eval("document.querySelector('h1').textContent", &title); title != "<a> & b" {
		t.Errorf("its title is %q", title)
	}
	for _, section := range []string{"Best so far", "Roofline", "Predicted against measured", "Two parameters", "All parameters", "Importance of parameters", "The best, timed again", "What became of the schedules", "Device and toolchain"} {
		var n int
		if b.Eval(fmt.Sprintf("document.querySelectorAll('section[aria-label=%q]').length", section), &n); n != 1 {
			t.Errorf("%d sections %q", n, section)
		}
	}
	brush(t, b)
	keyboard(t, b)
	for _, v := range []struct {
		name  string
		width int
		dark  bool
	}{{"light", 1280, false}, {"dark", 1280, true}, {"phone", 390, false}} {
		look(t, b, v.name, v.width, v.dark)
	}
	if !bytes.HasPrefix(b.Print(), []byte("%PDF")) {
		t.Error("the page does not print")
	}
	b.Clean(url)
}

// brush drags along an axis of the parallel coordinates, and along another.
func brush(t *testing.T, b *chromium.Tab) {
	t.Helper()
	b.Eval(chart+".scrollIntoView({block: 'center'})", nil)
	b.Until("echarts.getInstanceByDom(" + chart + ")")
	var box struct{ X, Y, Width, Height float64 }
	b.Eval("(() => { const r = "+chart+".getBoundingClientRect(); return {x: r.x, y: r.y, width: r.width, height: r.height}; })()", &box)
	right := box.X + box.Width - 56 // the rates' axis
	b.Drag(right, box.Y+42, right, box.Y+box.Height/3)
	b.Until("document.querySelector('.picked').textContent.startsWith('Chosen: GCells/s')")
	first := picked(t, b)
	left := box.X + 28
	b.Drag(left, box.Y+30, left, box.Y+box.Height/2)
	b.Until("document.querySelector('.picked').textContent.includes('vx: ')")
	if both := picked(t, b); both.some == 0 || both.some > first.some || first.some >= first.all {
		t.Errorf("of all, of one axis and of two are chosen %d, %d, %d", first.all, first.some, both.some)
	}
}

type count struct{ some, all int }

// picked is how many schedules are chosen.
func picked(t *testing.T, b *chromium.Tab) (c count) {
	t.Helper()
	var text string
	b.Eval("document.querySelector('.picked').textContent", &text)
	at := strings.LastIndex(text, ". ")
	if at < 0 {
		at = strings.LastIndex(text, ": ")
	}
	if n, err := fmt.Sscanf(strings.ReplaceAll(text[at+2:], ",", ""), "%d of %d schedules", &c.some, &c.all); n != 2 {
		t.Fatalf("%q: %v", text, err)
	}
	return c
}

// keyboard walks to the parallel coordinates, clears them, chooses a value and makes it a
// range; then it switches the theme.
func keyboard(t *testing.T, b *chromium.Tab) {
	t.Helper()
	b.Eval("document.activeElement.blur(), document.querySelector('#theme').focus()", nil)
	here := false
	for range 60 {
		b.Key("Tab", false)
		if b.Eval("document.activeElement === "+chart, &here); here {
			break
		}
	}
	if !here {
		t.Fatal("the tabulator does not reach the parallel coordinates")
	}
	b.Key("Escape", false)
	b.Until("document.querySelector('.picked').textContent.startsWith('Nothing')")
	all := picked(t, b)
	b.Key("ArrowRight", false)
	b.Key("ArrowUp", false)
	b.Until("document.querySelector('.picked').textContent.startsWith('Chosen: vy: 1.')")
	one := picked(t, b)
	b.Key("ArrowUp", true)
	b.Until("document.querySelector('.picked').textContent.startsWith('Chosen: vy: 1, 2.')")
	if two := picked(t, b); one.some == 0 || two.some <= one.some || two.some >= all.some {
		t.Errorf("one value, two, all: %d, %d, %d schedules", one.some, two.some, all.some)
	}
	b.Eval("document.querySelector('#theme').focus()", nil)
	b.Key("Enter", false)
	b.Until("document.documentElement.dataset.theme === 'dark'")
	b.Key("Enter", false)
	b.Until("document.documentElement.dataset.theme === 'light'")
}

// look looks at the page in a width and a theme: nothing is wider than the window.
func look(t *testing.T, b *chromium.Tab, name string, width int, dark bool) {
	t.Helper()
	b.View(width, 900, dark)
	b.Until(fmt.Sprintf("document.documentElement.dataset.theme === %q", map[bool]string{false: "light", true: "dark"}[dark]))
	b.Fits(name)
	if *shots == "" {
		return
	}
	var height int
	b.Eval("document.documentElement.scrollHeight", &height)
	b.View(width, height, dark) // so that all charts are in sight
	b.Eval("new Promise(r => setTimeout(r, 2000))", nil)
	b.Shoot(filepath.Join(*shots, name+".png"), true)
}
