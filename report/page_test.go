package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stenciltune/report"
)

// chartsHash is the SHA-256 of web/charts.min.js as `npm ci && npm run build` in web makes it.
const chartsHash = "cfc921a8ed292ecd1177e236905ee54e7e23a39c7a9caa05458cd73ccb528a7e"

func TestChartsAreWhatTheCommandMakes(t *testing.T) {
	b, err := os.ReadFile("web/charts.min.js")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != chartsHash {
		t.Errorf("web/charts.min.js has the SHA-256 %s: build it by npm ci && npm run build in report/web, and name that here", got)
	}
	esbuild := filepath.Join("web", "node_modules", ".bin", "esbuild")
	if _, err := os.Stat(esbuild); err != nil {
		t.Skip("no report/web/node_modules here: charts.min.js was not built anew (npm ci in report/web)")
	}
	out := filepath.Join(t.TempDir(), "charts.min.js")
	c := exec.Command("npm", "run", "build", "--", "--outfile="+out)
	c.Dir = "web"
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again, err := os.ReadFile(out); err != nil || !bytes.Equal(b, again) {
		t.Errorf("the command makes another charts.min.js (%v)", err)
	}
}

// TestPageStandsAlone looks for whatever could be fetched, and for text that ends an element.
func TestPageStandsAlone(t *testing.T) {
	r := recorded(t, "jacobi3d_f64")
	r.Notes = []string{"</script><script>alert(1)</script>"}
	var b bytes.Buffer
	if err := report.Page(&b, "</title><b>", report.Data{Tunes: []report.Tune{report.Make(r)}}, ""); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script src", "alert(1)</script>", "<b>", "@import", "url(", "connect-src"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	m := regexp.MustCompile(`(?s)<script id="data" type="application/json">(.*?)</script>`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("the page has no data")
	}
	var d report.Data
	if err := json.Unmarshal([]byte(m[1]), &d); err != nil {
		t.Fatal(err)
	}
	if d.Format != report.Format || len(d.Tunes) != 1 || d.Tunes[0].Notes[0] != r.Notes[0] {
		t.Errorf("the data came back as %s, %d tunes", d.Format, len(d.Tunes))
	}
}
