package cache

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"stenciltune/machine"
)

// bucketRates holds device -> DeviceRates. Stores made before it was thought of
// lack it until rates are put.
var bucketRates = []byte("rates")

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

// PutRates stores the measured rates of a device, in place of those before.
func (s *Store) PutRates(m machine.Machine, r DeviceRates) error {
	return s.update(touch(map[string]*part{string(bucketRates): whole}), func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucketRates)
		if err != nil {
			return err
		}
		key := ratesKey(m)
		return putJSON(b, place("rates", key, ""), []byte(key), r)
	})
}

// Rates gives the measured rates of a device; with false there are none. A damaged
// record counts as none: measuring it anew takes seconds.
func (s *Store) Rates(m machine.Machine) (r DeviceRates, ok bool, err error) {
	err = s.view(touch(map[string]*part{string(bucketRates): whole}), func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketRates)
		if b == nil {
			return nil
		}
		key := ratesKey(m)
		switch err := getJSON(b, place("rates", key, ""), []byte(key), &r); {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, errDamaged):
			s.damaged[place("rates", key, "")] = struct{}{} // s.mu is held
		case err != nil:
			return err
		default:
			ok = true
		}
		return nil
	})
	return r, ok, err
}

// checkRates reads the rates of all devices.
func (s *Store) checkRates() error {
	var records []raw
	err := s.view(touch(map[string]*part{string(bucketRates): whole}), func(tx *bbolt.Tx) error {
		records = collect(tx.Bucket(bucketRates))
		return nil
	})
	for _, r := range records {
		at := place("rates", string(r.name), "")
		if payload, err := unseal(at, r.value); err != nil || json.Unmarshal(payload, new(DeviceRates)) != nil {
			s.spoilt(at)
		}
	}
	return err
}
