package report

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
)

// The page's parts. charts.min.js is built of Apache ECharts by the command in
// web/package.json; its SHA-256 is held by a test, its licences are in web/charts.LICENSE.txt.
var (
	//go:embed web/page.html
	pageText string
	//go:embed web/report.css
	styleText string
	//go:embed web/charts.min.js
	chartsText string
	//go:embed web/report.js
	scriptText string

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// What the browser lets a page do: run what stands in it, and nothing from anywhere else.
// A live page may also talk to where it came from.
const (
	closed = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
	live   = closed + "; connect-src 'self'"
)

// Page writes a page that needs nothing but itself: no network, no other file. With a script
// it is live: the script runs last, may fetch from where the page came from, and shows new
// data by TuneReport.show(data), data being the JSON form of Data; so often as it likes.
func Page(w io.Writer, title string, d Data, script string) error {
	d.Format = Format
	b, err := json.Marshal(d) // which escapes <, > and &, so that no text ends the element
	if err != nil {
		return err
	}
	policy := closed
	if script != "" {
		policy = live
	}
	return pageTemplate.Execute(w, map[string]any{"Title": title, "Policy": policy, "Style": template.CSS(styleText), "Data": template.JS(b),
		"Charts": template.JS(chartsText), "Script": template.JS(scriptText), "Live": template.JS(script)})
}
