package imports

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "stenciltune"

// may says which packages of ours a package may import, by path below the
// module. A package without Go files yet simply has no say.
var may = map[string][]string{
	"stencil":             {},
	"stencil/sizes":       {"stencil"},
	"stencil/stenciltest": {"stencil"},
	"space":               {},
	"space/spacetest":     {"space"},
	"machine":             {},
	"machine/machinetest": {"machine"},
	"timing":              {},
	"outcome":             {"space", "stencil", "timing"},

	"kernels":             {"space", "stencil", "machine"},
	"kernels/kernelstest": {"kernels", "space/spacetest", "stencil", "stencil/stenciltest", "internal/golden"},

	"device":            leaves("kernels"),
	"device/cuda":       leaves("device", "kernels"),
	"device/host":       leaves("device", "kernels"),
	"device/replay":     leaves("device", "kernels", "outcome"),
	"device/verify":     leaves("device", "kernels", "kernels/reduce"),
	"device/devicetest": leaves("device", "device/verify", "kernels", "kernels/all", "space/spacetest", "stencil/stenciltest"),
	"device/microbench": leaves("device", "kernels"),
	"device/worker":     leaves("device", "kernels", "outcome"),

	"model":             {"kernels", "machine", "stencil", "space"},
	"transfer":          {"kernels", "machine", "model", "space", "stencil"},
	"search":            {"outcome", "space", "timing"},
	"search/searchtest": {"outcome", "search", "space", "space/spacetest", "timing"},
	"cache":             {"machine", "outcome", "search", "space", "timing"},
	"emit":              {"cache", "kernels", "kernels/reduce", "model", "space", "stencil"},

	"runner":            leaves("device", "kernels", "outcome", "search"),
	"tuner":             leaves("cache", "device", "device/cuda", "device/host", "device/microbench", "device/replay", "device/worker", "runner", "kernels", "kernels/all", "model", "outcome", "search", "transfer"),
	"doctor":            leaves("cache", "device", "device/cuda", "device/host", "tuner"),
	"cmd/internal/cli":  leaves("cache", "device", "device/replay", "runner", "kernels", "search", "tuner"),
	"figure":            {},
	"report":            leaves("cache", "figure", "kernels", "model", "outcome"),
	"serve":             {"report"},
	"internal/golden":   {},
	"internal/dbtest":   {},
	"internal/chromium": {},
	"internal/imports":  {},

	"study/carry":             leaves("device", "device/replay", "kernels", "kernels/all", "outcome"),
	"study/trace":             {"kernels", "space", "stencil"},
	"study/exchange":          leaves("device/replay", "outcome"),
	"study/samplers":          {"outcome", "search", "space", "timing"},
	"study/contest":           leaves("device/replay", "figure", "runner", "kernels", "outcome", "search", "study/samplers"),
	"study/scale":             leaves("device/replay", "outcome", "search"),
	"study/sl":                {"kernels", "kernels/all", "machine", "model", "search", "space", "stencil"},
	"study/matmul":            {"kernels", "machine", "space", "stencil"},
	"study/matmul/matmultest": leaves("device", "kernels", "study/matmul"),
}

// leaves are the packages that import nothing of ours, and more.
func leaves(more ...string) []string {
	return append([]string{"stencil", "space", "machine", "timing"}, more...)
}

// wiring tells whether a package puts others together and may import them all.
func wiring(path string) bool {
	dir, _, _ := strings.Cut(path, "/")
	return dir == "cmd" || dir == "examples" || dir == "bench"
}

// within tells whether a package is a folder or lies below it.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// fences says which of our packages alone may import a dependency, by the prefix
// of its import path; none means tests only.
var fences = map[string][]string{
	"github.com/c-bata/goptuna":       {"study/samplers"},
	"go.etcd.io/bbolt":                {"cache"},
	"github.com/jackc/pgx":            {"cache", "internal/dbtest"},
	"github.com/go-sql-driver/mysql":  {"cache", "internal/dbtest"},
	"github.com/ebitengine/purego":    {"device/cuda"},
	"github.com/spf13/cobra":          {"cmd/tune", "cmd/study", "cmd/internal/cli"},
	"github.com/spf13/pflag":          {"cmd/tune", "cmd/study", "cmd/internal/cli"},
	"gonum.org/v1/plot":               {"figure"},
	"github.com/vbauerster/mpb":       {"cmd/tune", "cmd/study", "cmd/internal/cli"},
	"golang.org/x/perf":               {"bench"},
	"pgregory.net/rapid":              {},
	"github.com/google/go-cmp":        {},
	"github.com/rogpeppe/go-internal": {},
	"testing":                         {"internal/golden", "internal/dbtest", "internal/chromium", "kernels/kernelstest", "device/devicetest", "search/searchtest", "space/spacetest", "stencil/stenciltest", "study/matmul/matmultest", "cmd/internal/clitest"},
}

// allowed is what a package may import, and whether the table knows it.
func allowed(path string) ([]string, bool) {
	if list, ok := may[path]; ok {
		return list, true
	}
	dir, family, found := strings.Cut(path, "/")
	switch {
	case found && dir == "kernels" && family == "all":
		return nil, true // checked by the caller: any family
	case found && dir == "kernels" && !strings.Contains(family, "/"):
		return []string{"kernels", "space", "stencil", "machine"}, true
	case wiring(path):
		return nil, true // everything
	}
	return nil, false
}

// check lists what is wrong with one package's imports.
func check(path string, imports []string) (faults []string) {
	list, known := allowed(path)
	if !known {
		faults = append(faults, path+" has no row in the table of imports; add one")
	}
	for _, i := range imports {
		for prefix, only := range fences {
			if within(i, prefix) && !slices.Contains(only, path) {
				faults = append(faults, path+" imports "+i+", which belongs to "+strings.Join(append(only, "tests"), ", "))
			}
		}
		ours, ok := strings.CutPrefix(i, module+"/")
		if !ok {
			continue
		}
		switch {
		case within(ours, "cmd/internal") && within(path, "cmd"):
		case within(ours, "cmd"):
			faults = append(faults, path+" imports "+ours+", which nothing may import")
		case within(ours, "study") && !within(path, "study") && path != "cmd/study":
			faults = append(faults, path+" imports "+ours+", which only the study may import")
		case wiring(path):
		case path == "kernels/all" && (within(ours, "kernels") || slices.Contains([]string{"machine", "space", "stencil"}, ours)):
		case !slices.Contains(list, ours):
			faults = append(faults, path+" imports "+ours+", which stands above it or beside it")
		}
	}
	return faults
}

// TestImportsPointOneWay looks at the direct imports of every package's files
// that are not tests; the table makes them a tree, so nothing is left to reach
// indirectly.
func TestImportsPointOneWay(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to list the packages with")
	}
	watchSources(t)
	cmd := exec.Command(goTool, "list", "-e", "-json=ImportPath,Imports,GoFiles", module+"/...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	d := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p struct {
			ImportPath       string
			Imports, GoFiles []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		path, ok := strings.CutPrefix(p.ImportPath, module+"/")
		if !ok || len(p.GoFiles) == 0 {
			continue
		}
		seen++
		for _, f := range check(path, p.Imports) {
			t.Error(f)
		}
	}
	if seen < 5 {
		t.Errorf("go list told of %d packages only", seen)
	}
}

// watchSources reads every source folder, so that the go command's test cache
// notices when what another process reads has changed.
func watchSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) > 2 && d.Name()[0] == '.' {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTableHasNoCycle(t *testing.T) {
	var visit func(path string, above []string)
	visit = func(path string, above []string) {
		if slices.Contains(above, path) {
			t.Fatalf("cycle: %v -> %s", above, path)
		}
		list, _ := allowed(path)
		for _, i := range list {
			visit(i, append(slices.Clone(above), path))
		}
	}
	for path := range may {
		visit(path, nil)
	}
}

// The checks above are only worth something if they can fail.
func TestForbiddenImportsAreNoticed(t *testing.T) {
	for _, c := range []struct{ path, imports, want string }{
		{"stencil", "stenciltune/space", "stencil imports space"},
		{"space", "stenciltune/stencil", "space imports stencil"},
		{"timing", "stenciltune/device", "timing imports device"},
		{"kernels", "stenciltune/kernels/tile", "kernels imports kernels/tile"},
		{"kernels/tile", "stenciltune/kernels/global", "kernels/tile imports kernels/global"},
		{"kernels/wave", "stenciltune/timing", "kernels/wave imports timing"},
		{"device", "stenciltune/device/cuda", "device imports device/cuda"},
		{"device/host", "stenciltune/device/replay", "device/host imports device/replay"},
		{"model", "stenciltune/search", "model imports search"},
		{"search", "stenciltune/model", "search imports model"},
		{"search", "stenciltune/kernels", "search imports kernels"},
		{"transfer", "stenciltune/cache", "transfer imports cache"},
		{"tuner", "stenciltune/cmd/internal/cli", "nothing may import"},
		{"runner", "stenciltune/tuner", "runner imports tuner"},
		{"outcome", "stenciltune/device", "outcome imports device"},
		{"tuner", "stenciltune/study/matmul", "only the study may import"},
		{"cmd/tune", "stenciltune/study/trace", "only the study may import"},
		{"cmd/study", "stenciltune/cmd/tune", "nothing may import"},
		{"study/trace", "stenciltune/tuner", "study/trace imports tuner"},
		{"cache", "stenciltune/stencil", "cache imports stencil"},
		{"device/worker", "stenciltune/device/cuda", "device/worker imports device/cuda"},
		{"runner", "stenciltune/cmd/tune", "nothing may import"},
		{"kernels/all", "stenciltune/model", "kernels/all imports model"},
		{"cache", "github.com/c-bata/goptuna/tpe", "belongs to study/samplers"},
		{"search", "go.etcd.io/bbolt", "belongs to cache"},
		{"device/host", "github.com/ebitengine/purego", "belongs to device/cuda"},
		{"runner", "github.com/vbauerster/mpb/v8/decor", "belongs to cmd/tune"},
		{"space", "pgregory.net/rapid", "belongs to tests"},
		{"misc", "fmt", "no row"},
	} {
		got := strings.Join(check(c.path, []string{c.imports}), "; ")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s importing %s: got %q, want %q", c.path, c.imports, got, c.want)
		}
	}
	for _, c := range []struct{ path, imports string }{
		{"kernels/all", "stenciltune/kernels/tile"},
		{"kernels/wave", "stenciltune/kernels"},
		{"cmd/tune", "stenciltune/device/cuda"},
		{"cmd/study", "stenciltune/study/trace"},
		{"cmd/study", "stenciltune/cmd/internal/cli"},
		{"study/matmul/matmultest", "stenciltune/study/matmul"},
		{"cmd/internal/cli", "github.com/spf13/cobra/doc"},
		{"study/samplers", "github.com/c-bata/goptuna"},
		{"device/cuda", "github.com/ebitengine/purego"},
	} {
		if got := check(c.path, []string{c.imports}); got != nil {
			t.Errorf("%s importing %s: %v", c.path, c.imports, got)
		}
	}
}
