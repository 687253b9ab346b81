package report_test

import (
	"fmt"
	"strings"
	"testing"

	"stenciltune/cache"
	"stenciltune/internal/chromium"
	"stenciltune/report"
	"stenciltune/timing"
)

// measured is a run whose winner was chosen by energy, of made-up watts.
func measured(t *testing.T) report.Run {
	t.Helper()
	r := recorded(t, "jacobi3d_f32")
	r.Outcomes, r.Search = r.Outcomes[:40], r.Search[:40]
	draw := func(i int, joules, watts float64) cache.DrawInfo {
		return cache.DrawInfo{Schedule: r.Outcomes[i].Schedule.String(), JoulesPerBillionCells: joules, Low: 0.99 * joules, High: 1.01 * joules, Samples: 6,
			SecondsPerStep: joules / watts * 0.134, Watts: watts, SMClockHz: 1.5e9, ClocksLowered: []string{timing.PowerCap}}
	}
	e := &cache.EnergyInfo{Finals: []cache.DrawInfo{draw(3, 0.40, 610), draw(5, 0.41, 640), draw(7, 0.45, 695)}}
	e.Winner = e.Finals[0]
	e.Finals[1].ClocksLowered, e.Finals[2].ClocksLowered, e.Finals[2].SMClockHz = []string{}, nil, 0
	e.Best = &cache.BestInfo{Time: e.Finals[2].Schedule, Energy: e.Winner.Schedule, EDP: e.Winner.Schedule}
	r.Objective = timing.ForEnergy
	r.Config = &cache.Config{Objective: timing.ForEnergy, Schedule: cache.ScheduleOf(r.Outcomes[3].Schedule), Energy: e, Measured: cache.MeasuredInfo{SecondsPerStep: r.Outcomes[3].Seconds()},
		Baseline: &cache.BaselineInfo{Schedule: e.Finals[1].Schedule, SecondsPerStep: r.Outcomes[5].Seconds()}}
	return r
}

func TestEnergyInABrowser(t *testing.T) {
	b := chromium.Open(t)
	url := written(t, measured(t))
	b.View(1280, 900, false)
	b.Load(url)
	var text string
	b.Eval(`document.querySelector('section[aria-label="Energy"]').innerText`, &text)
	for _, want := range []string{"best by energy, best by energy-delay product", "best by time", "baseline", "0.396 to 0.404", "695 W", "1.5 GHz", "power cap", "nothing", "not known"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if b.Eval(`document.querySelector('.figures').innerText`, &text); !strings.Contains(text, "chosen by energy") || !strings.Contains(text, "0.4 J") {
		t.Errorf("%s", text)
	}
	b.Eval(`document.querySelector('[aria-label^="Energy against time"]').scrollIntoView({block: 'center'})`, nil)
	b.Until(`echarts.getInstanceByDom(document.querySelector('[aria-label^="Energy against time"]'))`)
	for _, width := range []int{390, 1280} {
		look(t, b, "energy", width, false)
	}
	// The winner's alone is a table of one, and of what is not known the page says nothing.
	const change = `(() => { const d = JSON.parse(document.getElementById("data").textContent), c = d.tunes[0].config; %s; TuneReport.show(d); })()`
	b.Eval(fmt.Sprintf(change, "delete c.energy.best; delete c.energy.finals; delete c.objective"), nil)
	if b.Eval(`document.querySelector('section[aria-label="Energy"]').innerText`, &text); !strings.Contains(text, "winner") || strings.Contains(text, "best by") {
		t.Errorf("%s", text)
	}
	var n int
	b.Eval(fmt.Sprintf(change, "d.tunes.push({...d.tunes[0]})"), nil)
	if b.Eval(`document.querySelector('section.tunes').innerText`, &text); strings.Count(text, "512 by energy") != 6 || strings.Contains(text, "energy by") { // in both choices and in the list
		t.Errorf("%s", text)
	}
	b.Eval(fmt.Sprintf(change, "delete c.energy"), nil)
	if b.Eval(`document.querySelectorAll('section[aria-label="Energy"]').length`, &n); n != 0 {
		t.Error("a section without anything in it")
	}
	b.Clean(url)
}
