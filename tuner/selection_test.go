package tuner

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/device/replay"
	"stenciltune/machine"
	"stenciltune/search"
)

// gpus are two models: 0 and 2 of one, 1 of another, 3 like 0 but partitioned to half its memory.
func gpus() []machine.Machine {
	var all []machine.Machine
	for i, name := range []string{"NVIDIA H200", "NVIDIA A100", "NVIDIA H200", "NVIDIA H200"} {
		m := machine.Machine{Kind: machine.CUDA, Index: i, Name: name, ComputeCapability: "9.0", UUID: fmt.Sprintf("GPU-%d0111213-1415-1617-1819-1a1b1c1d1e1f", i), PCI: fmt.Sprintf("0000:4%d:00.0", i), MemoryBytes: 141 << 30}
		if i == 3 {
			m.MemoryBytes /= 2
		}
		all = append(all, m)
	}
	return all
}

func TestAListIsSplitByModel(t *testing.T) {
	for list, want := range map[string]string{
		"0,2":               "[0,2]",
		"2,0":               "[2,0]",
		"0, 1 ,2":           "[0,2 1]",
		"all":               "[0,2 1 3]",
		"GPU-20111213,0":    "[2,0]",
		"0000:41:00.0,42:0": "42:0", // no beginning of an address
		"41:00.0,42:00.0":   "[1 2]",
		"0,0":               "0 and 0 are the same GPU (0 = NVIDIA H200, GPU-00111213",
		"0,GPU-00111213":    "0 and GPU-00111213 are the same GPU",
		"0,7":               `--device 0,7: no such device: no device matches "7"; there are 0 = NVIDIA H200`,
		"0,GPU-99111213":    `no device matches "GPU-99111213"`,
	} {
		var names []string
		if list != allGPUs {
			for n := range strings.SplitSeq(list, ",") {
				names = append(names, strings.TrimSpace(n))
			}
		}
		got, err := matched(list, names, gpus())
		text := fmt.Sprint(got)
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", list, text, want)
		}
		var input InputError
		if err != nil && !errors.Is(err, device.ErrMissing) && !errors.As(err, &input) {
			t.Errorf("%s: %v has no exit code of its own", list, err)
		}
	}
}

func TestAListOfOtherDevices(t *testing.T) {
	for list, want := range map[string]string{
		"":                            "[]",
		"0":                           "[0]",
		"replay:h200":                 "[replay:h200]",
		"replay:h200,replay:h200":     "[replay:h200,replay:h200]",
		"replay:h200,replay:x":        "[replay:h200 replay:x]",
		"replay:h200,0":               "of GPUs or of recordings, not of both",
		"host,host":                   "host stands alone",
		"0,host":                      "host stands alone",
		"model:a100,0":                "model:a100 stands alone",
		"all,0":                       "all stands alone",
		"0,,1":                        "a name is empty",
		",":                           "a name is empty",
		" replay:h200 , replay:h200 ": "[replay:h200,replay:h200]",
	} {
		got, err := Select(list)
		text := fmt.Sprint(got)
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) {
			t.Errorf("%q: %s, want %s", list, text, want)
		}
	}
	if _, err := OpenDevice(t.Context(), "0,1", Problem{}); err == nil || !strings.Contains(err.Error(), "name one") {
		t.Errorf("a list where one device is asked for: %v", err)
	}
}

// What one device finds several find, in less time where they and not the compilers are waited for.
func TestATuneIsSpreadOverRecordings(t *testing.T) {
	p, err := Spec{Stencil: "jacobi2d"}.Problem()
	if err != nil {
		t.Fatal(err)
	}
	l, err := replay.Find("h200", p)
	if err != nil {
		t.Fatal(err)
	}
	l.Header.Compilers = 500
	tune := func(devices int) Config {
		t.Helper()
		c, err := open(t).Tune(t.Context(), p, replay.Several(l, devices), Options{Strategy: "random", NoPrior: true, Stop: search.Stop{Budget: 150, Time: time.Hour, Stall: 1000}})
		if err != nil {
			t.Fatal(err)
		}
		if c.Search.Utilisation <= 0 || c.Search.Utilisation > 1 || len(c.Members) != devices && devices > 1 {
			t.Errorf("%d devices: utilisation %g, members %v", devices, c.Search.Utilisation, c.Members)
		}
		return c
	}
	one, four := tune(1), tune(4)
	t.Logf("one device %.1f s, four %.1f s", one.Search.Seconds, four.Search.Seconds)
	if one.Schedule.Text != four.Schedule.Text || one.Search.Evaluated != four.Search.Evaluated || four.Search.Seconds > 0.75*one.Search.Seconds || one.Members != nil {
		t.Errorf("%s of %d in %.2f s, with four %s of %d in %.2f s", one.Schedule.Text, one.Search.Evaluated, one.Search.Seconds, four.Schedule.Text, four.Search.Evaluated, four.Search.Seconds)
	}
}
