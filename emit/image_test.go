package emit

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/internal/golden"
	"stenciltune/kernels"
	"stenciltune/stencil"
)

// imageCaller is a program that launches the kernels of an image of survey.sl by what its document says of them, and nothing
// else, beside the plain loop of surveyCaller.
func imageCaller(t *testing.T, s Source, image Image) string {
	t.Helper()
	var doc struct {
		Size    []int
		Kernels []geometry
		Lists   []listDoc
	}
	if err := json.Unmarshal(image.Geometry, &doc); err != nil || len(doc.Lists) != 2 || !doc.Lists[0].Sources || doc.Lists[1].Sources {
		t.Fatalf("%v\n%s", err, image.Geometry)
	}
	parts, _, err := s.parts(false)
	if err != nil {
		t.Fatal(err)
	}
	address := map[string]string{} // of entries, which a driver finds by name
	for _, k := range parts {
		for _, p := range k.Passes {
			address[p.Entry] = fmt.Sprintf("%s_%s::%s%s", s.Name, k.Scope, p.Scope, p.Entry)
		}
	}
	last := parts[len(parts)-1]
	for _, l := range kernels.SparseLaunches(s.Problem, last.Entry, 1) {
		address[l.Entry] = fmt.Sprintf("%s_%s::%s%s", s.Name, last.Scope, l.Scope, l.Entry)
	}
	variables := map[string]string{"field": "now", "new_field": "next", "read_only": "ro", "extent": "n", "places": "place", "places_count": "places", "table": "table", "table_rows": "rows"}
	launch := func(entry, blocks string, block [3]int, shared int, parameters []parameterDoc) string {
		var values []string
		for _, p := range parameters {
			v := "&first"
			if p.Holds != "iteration" {
				v = fmt.Sprintf("&%s[%d]", variables[p.Holds], *p.Index)
			}
			values = append(values, v)
		}
		return fmt.Sprintf("  {\n    void *values[] = {%s};\n    if (cudaLaunchKernel(TUNE_KERNEL(%s), %s, dim3(%d, %d, %d), values, %d, 0)) return 2;\n  }\n",
			strings.Join(values, ", "), address[entry], blocks, block[0], block[1], block[2], shared)
	}
	head, _, _ := strings.Cut(surveyCaller, "enum { CUT")
	var b strings.Builder
	b.WriteString(strings.NewReplacer("#include \"survey.h\"\n", image.Kernel.Source+"#include <utility>\n#ifndef TUNE_KERNEL\n#define TUNE_KERNEL(kernel) (const void *)kernel\n#endif\n", " STEPS = 9", " STEPS = 10", "NX = 37, NY = 23", fmt.Sprintf("NX = %d, NY = %d", doc.Size[0], doc.Size[1])).Replace(head))
	b.WriteString(`static float *now[2], *next[2], *table[2];
static const float *ro[1];
static const long long *place[2];
static long long places[2] = {SHOTS, TRACES};
static int n[3] = {NX, NY, 1}, rows[2] = {SHOT_STEPS, TRACE_STEPS}, first = 1;
static int lists() {
`)
	for i, l := range doc.Lists {
		fmt.Fprintf(&b, "  const long long blocks_%d = (places[%[1]d] + %d - 1) / %[2]d;\n", i, l.Block[0])
		b.WriteString(launch(l.Entry, fmt.Sprintf("dim3(blocks_%d < %d ? blocks_%[1]d : %[2]d)", i, l.MostBlocks), l.Block, 0, l.Parameters))
	}
	b.WriteString("  return 0;\n}\nstatic int advance(int left) {\n")
	for _, k := range doc.Kernels[:len(doc.Kernels)-1] { // the last is for other grids
		fmt.Fprintf(&b, "  while (left >= %d) {\n", k.StepsPerLaunch)
		for _, stage := range k.Stages {
			b.WriteString(launch(stage.Entry, fmt.Sprintf("dim3(%d, %d, %d)", k.Grid[0], k.Grid[1], k.Grid[2]), k.Block, k.SharedBytes, stage.Parameters))
			for _, p := range stage.Parameters {
				if p.Holds == "new_field" {
					fmt.Fprintf(&b, "  std::swap(now[%d], next[%[1]d]);\n", *p.Index)
				}
			}
			for _, c := range stage.Copies {
				fmt.Fprintf(&b, "  std::swap(now[%d], next[%d]);\n", c[0], c[1])
			}
		}
		if k.StepsPerLaunch == 1 {
			b.WriteString("  if (lists()) return 2;\n")
		}
		fmt.Fprintf(&b, "  left -= %d, first += %[1]d;\n  }\n", k.StepsPerLaunch)
	}
	b.WriteString(`  return left;
}
int main(void) {
  static float answer[NY][NX];
  for (int i = 0; i < NX * NY; i++) ((float *)u)[i] = sinf(i), ((float *)old)[i] = cosf(3 * i), ((float *)m)[i] = 0.15f + 0.1f * sinf(7 * i);
  for (int i = 0; i < SHOTS * SHOT_STEPS; i++) ((float *)wavelet)[i] = 4 * sinf(5 * i);
  for (int i = 0; i < TRACES; i++) trace[i] = i % 3 ? i * 7 % (NX * NY) : NX * NY - 150 + i;
  for (int i = 0; i < TRACES * TRACE_STEPS; i++) ((float *)want)[i] = -7;
  now[0] = (float *)on_device(u, sizeof u), now[1] = (float *)on_device(old, sizeof old);
  next[0] = (float *)on_device(u, sizeof u), next[1] = (float *)on_device(u, sizeof u);
  ro[0] = (float *)on_device(m, sizeof m), place[0] = (long long *)on_device(shot, sizeof shot), place[1] = (long long *)on_device(trace, sizeof trace);
  table[0] = (float *)on_device(wavelet, sizeof wavelet), table[1] = (float *)on_device(want, sizeof want);
  plain();
  if (advance(STEPS)) return 2;
  cudaMemcpy(answer, now[0], sizeof answer, cudaMemcpyDeviceToHost), cudaMemcpy(got, table[1], sizeof got, cudaMemcpyDeviceToHost);
  int wrong = differ("u", answer[0], u[0], NX * NY);
  cudaMemcpy(answer, now[1], sizeof answer, cudaMemcpyDeviceToHost);
  return wrong | differ("old", answer[0], old[0], NX * NY) | differ("traces", got[0], want[0], TRACES * TRACE_STEPS);
}
`)
	return b.String()
}

func TestImageOfASurveyIsThePlainLoop(t *testing.T) {
	nvcc, dir := nvccOf(t), t.TempDir()
	for i, schedule := range []string{"pipeline/vx=2/vy=1/wp=2/ck=4/pf=1/mb=1/ph=3", "stream/vx=2/vy=1/wp=2/ck=4/pf=1/mb=1/ph=1"} {
		s := sourceOf(t, surveyFile, stencil.Float32, stencil.Size{138, 40, 1}, schedule, h200)
		image, err := ImageOf(s)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			golden.Check(t, "survey.geometry", image.Geometry)
		}
		write(t, dir, "image.cu", imageCaller(t, s, image))
		program := filepath.Join(dir, "image")
		build(t, dir, nvcc, "-std=c++17", "-O0", "-o", program, "image.cu")
		if out, err := exec.Command(program).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", schedule, err, out)
		}
	}
}
