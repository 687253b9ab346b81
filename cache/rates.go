package cache

import (
	"fmt"
	"strings"
	"time"

	"stenciltune/machine"
)

// DeviceRates is what micro-benchmarks measured of a device, once.
type DeviceRates struct {
	Device             string        `json:"device"`
	Driver             string        `json:"driver,omitempty"`
	Rates              machine.Rates `json:"rates"`
	CopyBytesPerSecond float64       `json:"copy_bytes_per_second"`
	Seconds            float64       `json:"seconds"` // the measuring took
	Time               time.Time     `json:"time"`
}

// ratesKey names a device: this very one, under this major version of its driver.
func ratesKey(m machine.Machine) string {
	driver, _, _ := strings.Cut(m.Driver, ".")
	id := m.UUID
	if id == "" {
		id = m.Slug()
	}
	return fmt.Sprintf("kind=%s device=%s driver=%s", m.Kind, id, driver)
}

// ratesAt is where the rates of a device lie.
func ratesAt(m machine.Machine) spot { return spot{part: partRates, key: ratesKey(m)} }

// PutRates stores the measured rates of a device, in place of those before.
func (s *Store) PutRates(m machine.Machine, r DeviceRates) error {
	at := ratesAt(m)
	raw, err := sealJSON(at.place(), r)
	if err != nil {
		return err
	}
	return s.put(at, raw)
}

// Rates gives the measured rates of a device; with false there are none. A damaged
// record counts as none: measuring it anew takes seconds.
func (s *Store) Rates(m machine.Machine) (r DeviceRates, ok bool, err error) {
	records, err := s.engine.read(ratesAt(m))
	if err != nil || len(records) == 0 {
		return r, false, err
	}
	r, ok = s.rates(records[0])
	return r, ok, nil
}

// rates are those of a record, or the record is damaged.
func (s *Store) rates(from record) (r DeviceRates, ok bool) {
	if unsealJSON(from.place(), from.value, &r) != nil || !r.possible() {
		s.health.spoilt(from.place())
		return DeviceRates{}, false
	}
	return r, true
}

// possible tells whether a device can have such rates.
func (r DeviceRates) possible() bool {
	for _, v := range []float64{r.Rates.L2Bytes, r.Rates.SharedBytes, r.Rates.Launch, r.Rates.Barrier, r.Rates.SharedLatency,
		r.Rates.L1Latency, r.Rates.L2Latency, r.Rates.DRAMLatency, r.CopyBytesPerSecond} {
		if v != 0 && !(v >= 1e-12 && v <= 1e18) { // seconds, and bytes a second
			return false
		}
	}
	return true
}

// allRates are the sound records of all devices' rates.
func (s *Store) allRates() (sound []record, err error) {
	keys, err := s.engine.keys(partRates, "")
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	var at []spot
	for _, k := range keys {
		at = append(at, spot{part: partRates, key: k})
	}
	records, err := s.engine.read(at...)
	for _, r := range records {
		if _, ok := s.rates(r); ok {
			sound = append(sound, r)
		}
	}
	return sound, err
}
