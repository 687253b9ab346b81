package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/doctor"
)

// fakeLibraries builds stand-ins for libcuda and NVML, and for NVRTC.
func fakeLibraries(t *testing.T) (cuda, nvrtc string) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler for the fake driver: ", err)
	}
	dir := t.TempDir()
	build := func(name, source string) string {
		file := filepath.Join(dir, name)
		if out, err := exec.Command(cc, "-shared", "-fPIC", "-O1", "-DNEW", "-o", file, filepath.Join("../../device/cuda/testdata", source)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return file
	}
	return build("libcuda.so.1", "fakecuda.c"), build("libnvrtc.so.13", "fakenvrtc.c")
}

// TestDoctorAsksTheLibraries runs the command on stand-ins, in processes as in use.
func TestDoctorAsksTheLibraries(t *testing.T) {
	cuda, nvrtc := fakeLibraries(t)
	none := filepath.Join(filepath.Dir(cuda), "none.so")
	for name, c := range map[string]struct {
		env   []string
		code  int
		check string
		state doctor.State
		found string
	}{
		"sound":      {nil, cli.OK, "GPU", doctor.OK, "GPU 0: Fake GPU, compute capability 9.0"},
		"nvrtc":      {nil, cli.OK, "NVRTC", doctor.OK, "NVRTC 13.1, compiles for 9.0"},
		"clocks":     {[]string{"FAKE_THROTTLE=4"}, cli.OK, "clocks", doctor.Warning, "SM 1400 MHz of at most 1500, memory 2000 MHz, 55 degrees, lowered now: power cap"},
		"power":      {[]string{"FAKE_POWER_LIMIT=300"}, cli.OK, "power", doctor.Warning, "250 W, limit 300 W, 700 W by default"},
		"no energy":  {[]string{"FAKE_NO_ENERGY=1"}, cli.OK, "power", doctor.Note, "no energy counter"},
		"ECC":        {[]string{"FAKE_ECC_ERRORS=3"}, cli.OK, "ECC", doctor.Warning, "on, 3 errors"},
		"ECC change": {[]string{"FAKE_ECC_PENDING=0"}, cli.OK, "ECC", doctor.Note, "next reset"},
		"MIG":        {[]string{"FAKE_MIG=1"}, cli.OK, "MIG", doctor.Warning, "on"},
		"persist":    {[]string{"FAKE_PERSISTENCE=0"}, cli.OK, "persistence", doctor.Note, "off"},
		"mode":       {[]string{"FAKE_COMPUTE_MODE=3"}, cli.OK, "compute mode", doctor.Note, "exclusive"},
		"processes":  {[]string{"FAKE_PROCESSES=2"}, cli.OK, "processes", doctor.Warning, "2 compute on it: 4711 /usr/bin/train, 4712 /usr/bin/train"},
		"memory":     {[]string{"FAKE_FREE_MB=100"}, cli.OK, "memory", doctor.Warning, "0.1 GiB free of 0.5 GiB"},
		"status":     {[]string{"FAKE_INIT=46"}, cli.NoDevice, "driver", doctor.Problem, "CUDA_ERROR_DEVICE_UNAVAILABLE (46)"},
		"crash":      {[]string{"FAKE_INIT_CRASH=1"}, cli.NoDevice, "driver", doctor.Problem, "SIGABRT"},
		"hang":       {[]string{"FAKE_INIT_SLEEP=60"}, cli.NoDevice, "driver", doctor.Problem, "no answer within 2 s"},
		"no driver":  {[]string{"TUNE_LIBCUDA=" + none}, cli.NoDevice, "driver", doctor.Problem, none + ": no such file"},
		"no NVRTC":   {[]string{"TUNE_LIBNVRTC=" + none}, cli.NoDevice, "NVRTC", doctor.Problem, none + ": no such file"},
		"no NVML":    {[]string{"TUNE_LIBNVML=" + none}, cli.OK, "NVML", doctor.Warning, none + ": no such file"},
		"NVML init":  {[]string{"FAKE_NVML_INIT=18"}, cli.OK, "NVML", doctor.Warning, "another version than the driver (NVML error 18)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := clitest.Command(t, clitest.StoreIn(t), "doctor", "--json", "--limit", "15s")
			if name == "hang" {
				p.Cmd.Args[len(p.Cmd.Args)-1] = "2s"
			}
			// A compiler that works at once: doctor's own test has the others.
			cxx := filepath.Join(t.TempDir(), "c++")
			if err := os.WriteFile(cxx, []byte("#!/bin/sh\necho g++ 1.0\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			p.Cmd.Env = append(p.Cmd.Env, "CXX="+cxx, "TUNE_LIBCUDA="+cuda, "TUNE_LIBNVML="+cuda, "TUNE_LIBNVRTC="+nvrtc)
			p.Cmd.Env = append(p.Cmd.Env, c.env...)
			begin := time.Now()
			if code := p.Run(t); code != c.code {
				t.Errorf("exit %d\n%s%s", code, &p.Stdout, &p.Stderr)
			}
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
			var r doctor.Report
			if err := json.Unmarshal(p.Stdout.Bytes(), &r); err != nil || r.Format != doctor.Format {
				t.Fatalf("%v\n%s", err, &p.Stdout)
			}
			for _, f := range r.Findings {
				if f.Check == c.check && f.State == c.state && strings.Contains(f.Found, c.found) {
					return
				}
			}
			t.Errorf("it is not told\n%s", &p.Stdout)
		})
	}
}

func TestDoctorTellsPeople(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.so")
	p := clitest.Command(t, clitest.StoreIn(t), "doctor", "--device", "replay:h200")
	p.Cmd.Env = append(p.Cmd.Env, "CXX="+none, "TUNE_LIBCUDA="+none, "TUNE_LIBNVML="+none, "TUNE_LIBNVRTC="+none)
	if code := p.Run(t); code != cli.OK {
		t.Errorf("exit %d\n%s", code, &p.Stderr)
	}
	for _, want := range []string{"note     driver ", "looked at: " + none + ": no such file", "mend: ", "means: a tune on replay:h200 does without it", "problems 0\n"} {
		if !strings.Contains(p.Stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &p.Stdout)
		}
	}
}

// TestDoctorRefuses what no tune of one device runs on.
func TestDoctorRefuses(t *testing.T) {
	for device, c := range map[string]struct {
		code int
		want string
	}{
		"0,1": {cli.Usage, "name one"}, "all": {cli.Usage, "name one"}, "replay:h200,replay:h200": {cli.Usage, "name one"}, "replay": {cli.Usage, "which recording"},
		"replay:none": {cli.NoDevice, "none"}, "model:h200": {cli.Usage, "only facts"},
	} {
		if code, out, said := tune(t, clitest.StoreIn(t), "doctor", "--device", device); code != c.code || !strings.Contains(said, c.want) || out != "" {
			t.Errorf("%s: exit %d\n%s%s", device, code, said, out)
		}
	}
}
