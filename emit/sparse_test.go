package emit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
)

// surveyCaller is a program with the loop of a seismic survey as plain C, and calls of the emitted functions in its place: on host
// memory, on the device in two parts, the first by a graph, on rows that are parts of longer ones, and in two slabs that
// exchange ghost rows after each two steps.
const surveyCaller = `#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "survey.h"
enum { NX = 37, NY = 23, LDX = 48, STEPS = 9, SHOTS = 6, SHOT_STEPS = 7, TRACES = 301, TRACE_STEPS = 8 };
static float u[NY][NX], old[NY][NX], m[NY][NX], wavelet[SHOT_STEPS][SHOTS], want[TRACE_STEPS][TRACES], got[TRACE_STEPS][TRACES];
static long long shot[SHOTS] = {5 * NX + 7, 0, 5 * NX + 7, -1, NX * NY - 1, 12 * NX + 30}, trace[TRACES];
static float at(float a[NY][NX], int j, int i) { return j < 0 || j >= NY || i < 0 || i >= NX ? 0 : a[j][i]; }
static void plain(void) {
  static float a[NY][NX], b[NY][NX], next[NY][NX];
  const float c[3] = {-2.5f, 4.0f / 3, -1.0f / 12};
  memcpy(a, u, sizeof a), memcpy(b, old, sizeof b);
  for (int t = 0; t < STEPS; t++) {
    for (int j = 0; j < NY; j++)
      for (int i = 0; i < NX; i++) {
        float lap = 2 * c[0] * a[j][i];
        for (int k = 1; k <= 2; k++) lap += c[k] * (at(a, j, i - k) + at(a, j, i + k) + at(a, j - k, i) + at(a, j + k, i));
        next[j][i] = 2 * a[j][i] - b[j][i] + m[j][i] * lap;
      }
    for (int s = 0; s < SHOTS && t < SHOT_STEPS; s++)
      if (shot[s] >= 0) next[shot[s] / NX][shot[s] % NX] += m[shot[s] / NX][shot[s] % NX] * wavelet[t][s];
    for (int r = 0; r < TRACES && t < TRACE_STEPS; r++)
      if (trace[r] < NX * NY) want[t][r] = next[trace[r] / NX][trace[r] % NX];
    memcpy(b, a, sizeof b), memcpy(a, next, sizeof a);
  }
  memcpy(u, a, sizeof a), memcpy(old, b, sizeof b);
}
static int differ(const char *what, const float *a, const float *b, int n) {
  for (int i = 0; i < n; i++)
    if (!(fabsf(a[i] - b[i]) <= 2e-5f)) return printf("%s: %d is %g, want %g\n", what, i, a[i], b[i]), 1;
  return 0;
}
static void *on_device(const void *data, size_t bytes) {
  void *to;
  cudaMalloc(&to, bytes);
  cudaMemcpy(to, data, bytes, cudaMemcpyHostToDevice);
  return to;
}
enum { CUT = 11 };
struct Slab {
  int from, rows, below, above;
  float *all[4], *now[2], *next[2], *m, *table;
  long long *shots, *traces;
};
static int slabs(float u0[NY][NX], float old0[NY][NX], const float *values, const void *start, float answer[NY][NX], float traced[TRACE_STEPS][TRACES]) {
  struct Slab both[2];
  static float tables[2][TRACE_STEPS][TRACES];
  const int ghost = surveyGhost(2);
  if (ghost != 4) return 1;
  for (int s = 0; s < 2; s++) {
    struct Slab *slab = &both[s];
    slab->below = s ? ghost : 0, slab->above = s ? 0 : ghost, slab->from = s ? CUT - ghost : 0;
    slab->rows = (s ? NY : CUT + ghost) - slab->from;
    const size_t bytes = sizeof(float) * NX * (size_t)slab->rows;
    for (int f = 0; f < 4; f++) slab->all[f] = (float *)on_device(f == 1 ? old0[slab->from] : u0[slab->from], bytes);
    for (int f = 0; f < 2; f++) slab->now[f] = slab->all[f], slab->next[f] = slab->all[2 + f];
    slab->m = (float *)on_device(m[slab->from], bytes);
    long long shots[SHOTS], traces[TRACES];
    for (int i = 0; i < SHOTS; i++) shots[i] = shot[i] - slab->from * NX; // also of ghost rows
    for (int i = 0; i < TRACES; i++) traces[i] = (trace[i] / NX >= CUT) == s ? trace[i] - slab->from * NX : -1;
    slab->shots = (long long *)on_device(shots, sizeof shots), slab->traces = (long long *)on_device(traces, sizeof traces);
    slab->table = (float *)on_device(start, sizeof tables[0]);
  }
  for (int made = 0, steps; made < STEPS; made += steps) {
    steps = STEPS - made < 2 ? STEPS - made : 2;
    for (int s = 0; s < 2; s++) {
      struct Slab *slab = &both[s];
      float *result[2];
      if (slab->below && !surveySlab(slab->now, slab->next, slab->m, slab->shots, SHOTS, values, SHOT_STEPS, slab->traces, TRACES, slab->table, TRACE_STEPS, NX, slab->rows, 1, 0, steps, made + 1, result, 0)) return 2;
      if (surveySlab(slab->now, slab->next, slab->m, slab->shots, SHOTS, values, SHOT_STEPS, slab->traces, TRACES, slab->table, TRACE_STEPS, NX, slab->rows, slab->below, slab->above, steps, made + 1, result, 0)) return 3;
      for (int f = 0; f < 2; f++) slab->now[f] = result[f];
      for (int i = 0, f = 0; i < 4; i++)
        if (slab->all[i] != result[0] && slab->all[i] != result[1] && f < 2) slab->next[f++] = slab->all[i];
    }
    for (int f = 0; f < 2; f++) {
      cudaMemcpy(both[0].now[f] + CUT * NX, both[1].now[f] + ghost * NX, sizeof(float) * NX * ghost, cudaMemcpyDeviceToDevice);
      cudaMemcpy(both[1].now[f], both[0].now[f] + (CUT - ghost) * NX, sizeof(float) * NX * ghost, cudaMemcpyDeviceToDevice);
    }
  }
  cudaMemcpy(answer[0], both[0].now[0], sizeof(float) * NX * CUT, cudaMemcpyDeviceToHost);
  cudaMemcpy(answer[CUT], both[1].now[0] + ghost * NX, sizeof(float) * NX * (NY - CUT), cudaMemcpyDeviceToHost);
  for (int s = 0; s < 2; s++) cudaMemcpy(tables[s], both[s].table, sizeof tables[s], cudaMemcpyDeviceToHost);
  for (int t = 0; t < TRACE_STEPS; t++)
    for (int r = 0; r < TRACES; r++) traced[t][r] = tables[trace[r] / NX >= CUT][t][r];
  return 0;
}
int main(void) {
  static float u0[NY][NX], old0[NY][NX];
  static float both[2][NY][NX], wide[NY][LDX], start[TRACE_STEPS][TRACES], answer[NY][NX];
  for (int i = 0; i < NX * NY; i++) ((float *)u)[i] = sinf(i), ((float *)old)[i] = cosf(3 * i), ((float *)m)[i] = 0.15f + 0.1f * sinf(7 * i);
  for (int i = 0; i < SHOTS * SHOT_STEPS; i++) ((float *)wavelet)[i] = 4 * sinf(5 * i);
  for (int i = 0; i < TRACES; i++) trace[i] = i % 3 ? i * 7 % (NX * NY) : NX * NY - 150 + i; // some twice, some outside
  for (int i = 0; i < TRACES * TRACE_STEPS; i++) ((float *)want)[i] = ((float *)start)[i] = -7;
  memcpy(both[0], u, sizeof u), memcpy(both[1], old, sizeof old), memcpy(got, start, sizeof got);
  float *first[2] = {(float *)on_device(u, sizeof u), (float *)on_device(old, sizeof old)}, *next[2] = {(float *)on_device(u, sizeof u), (float *)on_device(u, sizeof u)}, *result[2];
  float *rows[4];
  for (int f = 0; f < 4; f++) {
    for (int j = 0; j < NY; j++) memcpy(wide[j], f ? old[j] : u[j], sizeof u[j]);
    rows[f] = (float *)on_device(wide, sizeof wide);
  }
  for (int j = 0; j < NY; j++) memcpy(wide[j], m[j], sizeof m[j]);
  const float *m_device = (float *)on_device(m, sizeof m), *m_rows = (float *)on_device(wide, sizeof wide), *values = (float *)on_device(wavelet, sizeof wavelet);
  const long long *shots = (long long *)on_device(shot, sizeof shot), *traces = (long long *)on_device(trace, sizeof trace);
  float *table = (float *)on_device(start, sizeof start), *table_rows = (float *)on_device(start, sizeof start);
  int wrong = 0;
  memcpy(u0, u, sizeof u), memcpy(old0, old, sizeof old);
  plain();

  surveySetData(m[0], NX * NY);
  survey(both[0][0], shot, SHOTS, wavelet[0], SHOT_STEPS, trace, TRACES, got[0], TRACE_STEPS, NX, NY, STEPS);
  if (surveyError()) return 2;
  wrong |= differ("u, host", both[0][0], u[0], NX * NY) | differ("old, host", both[1][0], old[0], NX * NY) | differ("traces, host", got[0], want[0], TRACES * TRACE_STEPS);
  survey(both[0][0], 0, SHOTS, wavelet[0], SHOT_STEPS, trace, 0, 0, 0, NX, NY, 1); // no places
  if (!surveyError()) return 3;
  survey(both[0][0], 0, 0, 0, 0, trace, -1, got[0], TRACE_STEPS, NX, NY, 1);
  if (!surveyError()) return 4;
  survey(both[0][0], 0, 0, 0, 0, 0, 0, 0, 0, NX, NY, STEPS); // empty lists
  if (surveyError()) return 5;
  survey(both[0][0], 0, SHOTS, 0, 0, 0, TRACES, 0, 0, NX, NY, STEPS); // places without rows
  if (surveyError()) return 11;

  cudaGraphExec_t graph;
  if (surveyGraph(first, next, m_device, shots, SHOTS, values, SHOT_STEPS, traces, TRACES, table, TRACE_STEPS, NX, NY, 4, 1, result, (void **)&graph)) return 6;
  if (cudaGraphLaunch(graph, 0) || cudaGraphExecDestroy(graph)) return 7;
  float *now[2] = {result[0], result[1]}, *free_[2] = {0, 0}, *all[4] = {first[0], first[1], next[0], next[1]};
  for (int i = 0, f = 0; i < 4; i++)
    if (all[i] != now[0] && all[i] != now[1] && f < 2) free_[f++] = all[i];
  if (surveyOnDevice(now, free_, m_device, shots, SHOTS, values, SHOT_STEPS, traces, TRACES, table, TRACE_STEPS, NX, NY, STEPS - 4, 5, result, 0)) return 8;
  cudaMemcpy(answer, result[0], sizeof answer, cudaMemcpyDeviceToHost), cudaMemcpy(got, table, sizeof got, cudaMemcpyDeviceToHost);
  wrong |= differ("u, device", answer[0], u[0], NX * NY) | differ("traces, device", got[0], want[0], TRACES * TRACE_STEPS);

  if (surveyPitchedOnDevice(rows, rows + 2, m_rows, shots, SHOTS, values, SHOT_STEPS, traces, TRACES, table_rows, TRACE_STEPS, NX, NY, LDX, STEPS, 1, result, 0)) return 9;
  cudaMemcpy(wide, result[0], sizeof wide, cudaMemcpyDeviceToHost), cudaMemcpy(got, table_rows, sizeof got, cudaMemcpyDeviceToHost);
  for (int j = 0; j < NY; j++) wrong |= differ("u, pitched", wide[j], u[j], NX);
  wrong |= differ("traces, pitched", got[0], want[0], TRACES * TRACE_STEPS);

  // Refused are tables that overlap fields, m, or each other; those of empty lists may be anywhere.
  float *old_table = table + (SHOTS * SHOT_STEPS - 1), *odd = (float *)((char *)table + 2);
  const struct { const float *shot; float *trace; const long long *where; } overlaps[] = {{now[0], table, shots}, {values, now[1] + NX, shots}, {values, free_[0], shots}, {values, (float *)m_device, shots}, {table, old_table, shots}, {values, odd, shots}, {values, table, (long long *)free_[0]}, {values, table, (long long *)table}};
  for (auto &o : overlaps)
    if (surveyOnDevice(now, free_, m_device, o.where, SHOTS, o.shot, SHOT_STEPS, traces, TRACES, o.trace, TRACE_STEPS, NX, NY, 1, 1, result, 0) != cudaErrorInvalidValue) return 12;
  if (surveyOnDevice(now, free_, m_device, shots, SHOTS, now[0], 0, traces, 0, now[0], TRACE_STEPS, NX, NY, 1, 1, result, 0)) return 13;

  if (slabs(u0, old0, values, start, answer, got)) return 10;
  return wrong | differ("u, slabs", answer[0], u[0], NX * NY) | differ("traces, slabs", got[0], want[0], TRACES * TRACE_STEPS);
}
`

const surveyFile = "../examples/stencils/survey.sl"

func TestEmittedSurveyIsThePlainLoop(t *testing.T) {
	nvcc, dir := nvccOf(t), t.TempDir()
	var s Source
	for schedule, rows := range map[string]string{"stream/vx=2/vy=1/wp=2/ck=4/pf=1/mb=1/ph=1": "NX = 37, NY = 23, LDX = 48", // by launches of a step each and of lists
		"pipeline/vx=2/vy=1/wp=2/ck=4/pf=1/mb=1/ph=3": "NX = 137, NY = 23, LDX = 144"} { // and of three steps, which do the lists themselves
		s = sourceOf(t, surveyFile, stencil.Float32, stencil.Size{512, 512, 1}, schedule, h200)
		s.Pitched = true
		emitted(t, dir, "survey.cu", "cu", s)
		emitted(t, dir, "survey.h", "header", s)
		write(t, dir, "main.cu", strings.Replace(surveyCaller, "NX = 37, NY = 23, LDX = 48", rows, 1))
		program := filepath.Join(dir, "survey")
		build(t, dir, nvcc, "-std=c++17", "-O0", "-o", program, "survey.cu", "main.cu")
		if out, err := exec.Command(program).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", schedule, err, out)
		}
	}
	if header, err := os.ReadFile(filepath.Join(dir, "survey.h")); err != nil || !strings.Contains(string(header), "surveySlab(") || strings.Contains(string(header), "surveySlabApart(") {
		t.Errorf("%v\n%s", err, header)
	}
	if _, err := exec.LookPath("gfortran"); err == nil {
		emitted(t, dir, "survey.f90", "fortran", s)
		build(t, dir, "gfortran", "-Wall", "-Werror", "-std=f2008", "-c", "survey.f90")
	}
}

func TestProgramsHaveSourcesAndReceivers(t *testing.T) {
	s := sourceOf(t, surveyFile, stencil.Float32, stencil.Size{96, 20, 1}, tiles2d+"1", h200)
	schedule := spacetest.Schedule(t, tiles2d+"1")
	dir := t.TempDir()
	write(t, dir, "k.cu", string(Program(s.Problem, kernels.Find(all.Families(), schedule.Family()).Kernel(s.Problem, schedule))))
	build(t, dir, nvccOf(t), "-O0", "-o", "k", "k.cu")
	if out := build(t, dir, filepath.Join(dir, "k"), "5"); !strings.Contains(out, "ms a launch") {
		t.Error(out)
	}
}
