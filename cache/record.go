package cache

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io/fs"
	"slices"
)

// A stored value is a record: a version byte, the payload's length and a
// checksum (both uint32, little-endian), then the payload, which is JSON. The
// checksum covers the record's place as well, so a record that turns up under
// another key is damaged too. bbolt itself checks nothing but two pages.
const (
	recordVersion = 1
	recordHeader  = 1 + 4 + 4

	// maxRecord is the longest record that is written, in bytes. A longer one is damaged, and no more of it is read than shows so.
	maxRecord = recordHeader + MaxConfig
)

// castagnoli is CRC-32C: it finds every error of up to three bits in records of
// any size we write (Koopman, "32-Bit Cyclic Redundancy Codes for Internet
// Applications", 2002), and processors have an instruction for it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is that of a payload at a place.
func checksum(place string, payload []byte) uint32 {
	sum := crc32.Update(0, castagnoli, []byte(place))
	sum = crc32.Update(sum, castagnoli, []byte{0})
	return crc32.Update(sum, castagnoli, payload)
}

// place names where a record lies: its buckets and its key.
func place(bucket, key, name string) string { return bucket + "\x00" + key + "\x00" + name }

// seal wraps a payload for a place.
func seal(place string, payload []byte) ([]byte, error) {
	if len(payload) > maxRecord-recordHeader {
		return nil, errors.New("record too large")
	}
	raw := make([]byte, recordHeader, recordHeader+len(payload))
	raw[0] = recordVersion
	binary.LittleEndian.PutUint32(raw[1:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(raw[5:], checksum(place, payload))
	return append(raw, payload...), nil
}

// copied is a copy of a record, or of what shows that it is too long.
func copied(raw []byte) []byte { return slices.Clone(raw[:min(len(raw), maxRecord+1)]) }

// errDamaged is a record that is not what was written.
var errDamaged = errors.New("damaged record")

// unseal gives the payload of a record, or errDamaged.
func unseal(place string, raw []byte) ([]byte, error) {
	if len(raw) < recordHeader || len(raw) > maxRecord || raw[0] != recordVersion {
		return nil, errDamaged
	}
	payload := raw[recordHeader:]
	if binary.LittleEndian.Uint32(raw[1:]) != uint32(len(payload)) || binary.LittleEndian.Uint32(raw[5:]) != checksum(place, payload) {
		return nil, errDamaged
	}
	return payload, nil
}

// sealJSON makes a value a record for a place.
func sealJSON(place string, value any) ([]byte, error) {
	payload, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return seal(place, payload)
}

// putJSON writes a record's value to its place.
func putJSON(tx transaction, at spot, value any) error {
	raw, err := sealJSON(at.place(), value)
	if err == nil {
		tx.put(at, raw)
	}
	return err
}

// unsealJSON reads a record's value: errDamaged if it is none, fs.ErrNotExist if raw is nil.
func unsealJSON(place string, raw []byte, value any) error {
	if raw == nil {
		return fs.ErrNotExist
	}
	payload, err := unseal(place, raw)
	if err == nil && json.Unmarshal(payload, value) != nil {
		err = errDamaged
	}
	return err
}
