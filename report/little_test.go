package report_test

import (
	"regexp"
	"strings"
	"testing"

	"stenciltune/cache"
	"stenciltune/internal/chromium"
	"stenciltune/outcome"
	"stenciltune/report"
	"stenciltune/timing"
)

// little are runs of which nearly nothing is known.
func little(t *testing.T) map[string]report.Run {
	t.Helper()
	with := func(change func(*report.Run)) report.Run {
		r := recorded(t, "jacobi3d_f32")
		r.Recorded = false
		change(&r)
		return r
	}
	failed := func(r *report.Run) {
		r.Outcomes, r.Search = r.Outcomes[:3:3], r.Search[:3]
		for i, o := range r.Outcomes {
			r.Outcomes[i] = outcome.Outcome{Schedule: o.Schedule, Status: timing.CompileError, Reason: "<b>no</b>"}
		}
	}
	return map[string]report.Run{
		"nothing": {Origin: report.Stored, Name: "é<b>/f32/8x8"},
		"begun":   with(func(r *report.Run) { r.Origin, r.Phase, r.Outcomes, r.Search = report.Running, "baseline", nil, nil }),
		"failed":  with(failed),
		"failed, of no stencil": with(func(r *report.Run) {
			failed(r)
			r.Problem.Stencil, r.Space, r.Families = nil, nil, nil
		}),
		"one": with(func(r *report.Run) {
			for _, o := range r.Outcomes {
				if o.Status == timing.OK {
					r.Outcomes = []outcome.Outcome{o}
					r.Search = []report.Evaluation{{Schedule: o.Schedule}}
					return
				}
			}
		}),
		"a config alone": with(func(r *report.Run) {
			o := r.Outcomes[0]
			r.Outcomes, r.Search = nil, nil
			r.Config = &cache.Config{Schedule: cache.ScheduleOf(o.Schedule), Measured: cache.MeasuredInfo{SecondsPerStep: 1e-3}}
		}),
	}
}

// odd is what a page says where something is not known, and the page does not mind.
var odd = regexp.MustCompile(`Infinity|NaN|undefined|null|\[object|\n\.\n|SMs\t0`)

// TestLittleInABrowser: a page of nearly nothing is drawn, and shows no number that is none.
func TestLittleInABrowser(t *testing.T) {
	b := chromium.Open(t)
	var urls []string
	for name, r := range little(t) {
		url := written(t, r)
		b.View(1280, 6000, false)
		b.Load(url)
		b.Eval("new Promise(r => setTimeout(r, 500))", nil)
		var text string
		b.Eval("document.querySelector('main').innerText", &text)
		if bad := odd.FindString(text); bad != "" || text == "" {
			t.Errorf("%s: %q in\n%.1500s", name, bad, text)
		}
		if strings.Contains(text, "Timed in turn") != (r.Config != nil) {
			t.Errorf("%s: finals were held, or not:\n%.1500s", name, text)
		}
		urls = append(urls, url)
	}
	b.Clean(urls...)
}

// TestLongNamesInABrowser: they break, whatever they hold.
func TestLongNamesInABrowser(t *testing.T) {
	b := chromium.Open(t)
	long := strings.Repeat("ünd<b>&", 28)
	r := recorded(t, "jacobi3d_f32")
	r.Outcomes, r.Search = r.Outcomes[:5], r.Search[:5]
	r.Problem.Stencil, r.Name, r.Machine.Name, r.Machine.Compiler, r.Machine.Driver, r.Notes = nil, long, long, long, long, []string{long}
	r.Outcomes[0].Status, r.Outcomes[0].Reason = timing.CompileError, long
	r.Phase, r.Trying = long, strings.Repeat("stream/", 30)
	url := written(t, r)
	b.View(390, 900, false)
	b.Load(url)
	b.Fits("long names")
	b.Eval(`(() => { const d = JSON.parse(document.getElementById("data").textContent); d.tunes.push({...d.tunes[0]}); TuneReport.show(d);
		const s = document.querySelectorAll(".bar select")[1]; s.selectedIndex = 2; s.dispatchEvent(new Event("change")); })()`, nil)
	b.Until("document.querySelector('.beside')")
	b.Fits("two of long names")
	b.Clean(url)
}

// looked is a browser that looks at the page of a recording, and the page's address.
func looked(t *testing.T) (*chromium.Tab, string) {
	t.Helper()
	b := chromium.Open(t)
	url := written(t, recorded(t, "jacobi3d_f32"))
	b.View(1280, 900, false)
	b.Load(url)
	return b, url
}

// TestTheLivePageGoesOn after a touch on a chart that became a scroll.
func TestTheLivePageGoesOn(t *testing.T) {
	b, url := looked(t)
	var text string
	b.Eval(`(() => { const d = JSON.parse(document.getElementById("data").textContent), chart = document.querySelector(".chart");
		for (const kind of ["pointerdown", "pointercancel"]) chart.dispatchEvent(new PointerEvent(kind, { bubbles: true, pointerType: "touch" }));
		d.tunes[0].notes = ["what is new"]; TuneReport.show(d); return document.querySelector("main").innerText; })()`, &text)
	if !strings.Contains(text, "what is new") {
		t.Error("what is new is not shown")
	}
	// What is out of sight is watched for once, whatever is told meanwhile.
	var observers int
	b.Eval(`(() => { let n = 0; const own = window.IntersectionObserver;
		window.IntersectionObserver = class extends own { constructor(...a) { super(...a); n++; } };
		for (let k = 0; k < 20; k++) TuneReport.show(JSON.parse(document.getElementById("data").textContent));
		return n; })()`, &observers)
	if observers > 0 {
		t.Errorf("20 events made %d observers", observers)
	}
	brush(t, b)
	b.Clean(url)
}

// TestManyInABrowser: more schedules than a call of JavaScript takes arguments.
func TestManyInABrowser(t *testing.T) {
	b, url := looked(t)
	b.Eval(`(() => { const d = JSON.parse(document.getElementById("data").textContent), p = d.tunes[0].points, n = Math.ceil(600000 / p.seconds.length);
		for (const k of ["family", "values", "seconds", "predicted", "limiter", "status", "registers"]) p[k] = Array(n).fill(p[k]).flat();
		TuneReport.show(d); `+chart+`.scrollIntoView({block: "center"}); })()`, nil)
	b.Until("echarts.getInstanceByDom(" + chart + ")")
	b.Clean(url)
}
