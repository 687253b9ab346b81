package worker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/timing"
)

func TestTelemetry(t *testing.T) {
	d := open(t, nil)
	busy := compile(t, d, "time=slow:400ms", 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := d.Time(background, timingOf(busy)); err != nil {
			t.Error(err)
		}
	}()
	time.Sleep(100 * time.Millisecond)
	begin := time.Now()
	for range 2 {
		if s := d.Telemetry(); s.SMClockHz == 0 || time.Since(begin) > 300*time.Millisecond {
			t.Errorf("%+v after %v", s, time.Since(begin))
		}
	}
	<-done
	setMood(t, d, "sense=hang")
	begin = time.Now()
	for range 10 {
		if s := d.Telemetry(); s.SMClockHz != 0 {
			t.Errorf("%+v", s)
		}
	}
	if took := time.Since(begin); took > 8*telemetryWait {
		t.Errorf("a sensor that hangs took %v", took)
	}
	works(t, d, compile(t, d, "", 2))
	if n := d.Stats().GPURestarts; n != 0 {
		t.Errorf("a sensor that hangs cost %d processes", n)
	}
}

func TestDeviceWithoutSensor(t *testing.T) {
	d := open(t, func(o *Options) {
		mood := filepath.Join(t.TempDir(), "mood")
		if err := os.WriteFile(mood, []byte("blind"), 0o600); err != nil {
			t.Fatal(err)
		}
		o.GPUCommand = command("gpu", mood)
	})
	if s := d.Telemetry(); s.SMClockHz != 0 {
		t.Errorf("%+v", s)
	}
	if _, err := d.CopyBandwidth(background, 1); err == nil {
		t.Error("copied")
	}
	if _, err := d.Energy(background, device.Energy{Problem: testProblem, Run: passOf(compile(t, d, "", 1))}); err == nil || device.AsFailure(err) != nil || d.Metered() {
		t.Errorf("an energy counter: %v", err)
	}
}

// TestEnergyHangs: a stretch is bounded as a timing is, and its kernel to blame.
func TestEnergyHangs(t *testing.T) {
	d := open(t, nil)
	bad := compile(t, d, "energy=hang", 1)
	_, err := d.Energy(background, device.Energy{Problem: testProblem, Run: passOf(bad), Stretch: timing.Stretch{Limit: 0.1}})
	if f := device.AsFailure(err); f == nil || f.Status != timing.Timeout || !strings.Contains(f.Reason, "measuring energy") {
		t.Error(err)
	}
	works(t, d, compile(t, d, "", 2))
}
