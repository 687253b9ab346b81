package cache

import (
	"errors"
	"os"
)

// Repair writes what is readable of a damaged store into a new one, which must hold nothing
// yet; the damaged file is left as it is. As long as the pages are sound, that is every sound
// record but workers' claims. Else it is configs and entries, as they are found in the pages one by one, where a record
// proves by its checksum that it is one, and whose: it may be one that was dropped and not yet overwritten.
func (s *Store) Repair(to *Store) (Imported, error) {
	var done Imported
	got, salvaged := newBatch(), false
	err := s.sound(got)
	if file, ok := s.engine.(*boltFile); ok && errors.Is(err, ErrCorrupt) {
		var data []byte
		if data, err = os.ReadFile(file.path()); err == nil {
			got, salvaged = newBatch(), true
			salvage(data, got)
		}
	}
	if err != nil {
		return done, err
	}
	if err := to.Writable(); err != nil {
		return done, err
	}
	if err := to.take(got, &done); err != nil {
		return done, err
	}
	if salvaged {
		return done, nil
	}
	if err := s.copyNotes(to); err != nil && !errors.Is(err, ErrCorrupt) {
		return done, err
	}
	return done, nil
}

// copyNotes copies the rates of devices, and what was begun and took its program down.
func (s *Store) copyNotes(to *Store) error {
	rates, err := s.allRates()
	if err != nil {
		return err
	}
	problems, err := s.keys(partIntents, "") // one whose first schedule took its program down has no journal
	if err != nil {
		return err
	}
	var at []spot
	for _, r := range rates {
		at = append(at, r.spot)
	}
	begun := map[string][]Intent{}
	for _, k := range problems {
		list, err := s.Unfinished(k)
		if err != nil {
			return err
		}
		text := k.String()
		begun[text] = list
		for _, i := range list {
			at = append(at, intentAt(text, i.Schedule))
		}
	}
	if len(at) == 0 {
		return nil
	}
	return to.engine.update(at, func(tx transaction) error {
		for _, r := range rates {
			tx.put(r.spot, r.value)
		}
		for text, list := range begun {
			for _, i := range list {
				if err := putIntent(tx, text, i.Schedule, i); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// sound puts every sound record into a batch.
func (s *Store) sound(got batch) error {
	bests, err := s.Bests()
	if err != nil {
		return err
	}
	for _, b := range bests {
		got.configs[b.Key] = b.Config
	}
	keys, err := s.Keys()
	if err != nil {
		return err
	}
	for _, k := range keys {
		entries, err := s.Entries(k)
		if err != nil {
			return err
		}
		for _, e := range entries {
			got.entry(k, e)
		}
	}
	return nil
}

// entry keeps an entry unless a newer one of its name is there.
func (b *batch) entry(k Key, e Entry) {
	at := b.entries[k]
	if at == nil {
		at = map[string]Entry{}
		b.entries[k] = at
	}
	if had, ok := at[entryName(e)]; !ok || newerEntry(had, e) < 0 {
		at[entryName(e)] = e
	}
}

// field is an element of a page.
type field struct{ name, value []byte }

// salvage puts the records of all pages that look like leaves into a batch.
func salvage(data []byte, got batch) {
	size := os.Getpagesize() // that of a store made here, unless a meta page tells
	if m, _, err := chooseMeta(data); err == nil {
		size = int(m.pageSize)
	}
	var found []field
	keys := map[string]Key{} // of problems, by their texts
	for at := 0; at+size <= len(data); at += size {
		pages := 1 + int(native.Uint32(data[at+12:]))
		if native.Uint16(data[at+8:]) != leafFlag || pages > (len(data)-at)/size {
			continue
		}
		records(data[at:at+pages*size], func(name, value []byte, bucket bool) {
			if k, err := ParseKey(string(name)); err == nil && !k.unclean() {
				keys[string(name)] = k
			}
			if !bucket {
				found = append(found, field{name, value})
			} else if len(value) >= bucketHead+pageHeader { // a small bucket lies in its value
				records(value[bucketHead:], func(name, value []byte, bucket bool) { found = append(found, field{name, value}) })
			}
		})
	}
	last := "" // neighbours are mostly of one problem
	for _, r := range found {
		if k, ok := keys[string(r.name)]; ok {
			if c, err := configOf(record{spot{part: partBest, key: string(r.name)}, r.value}); err == nil {
				if had, ok := got.configs[k]; !ok || newer(had, c) < 0 {
					got.configs[k] = c
				}
			}
			continue
		}
		read := func(key string) bool {
			e, err := entryOf(record{spot{partJournal, key, string(r.name)}, r.value})
			if err != nil {
				return false
			}
			got.entry(keys[key], e)
			last = key
			return true
		}
		if last != "" && read(last) {
			continue
		}
		for key := range keys {
			if key != last && read(key) {
				break
			}
		}
	}
}

// records gives the elements of a leaf as far as they lie within it.
func records(leaf []byte, each func(name, value []byte, bucket bool)) {
	for i := range int(native.Uint16(leaf[10:])) {
		at := pageHeader + i*element
		if at+element > len(leaf) {
			return
		}
		from := uint64(at) + uint64(native.Uint32(leaf[at+4:]))
		mid := from + uint64(native.Uint32(leaf[at+8:]))
		to := mid + uint64(native.Uint32(leaf[at+12:]))
		if to <= uint64(len(leaf)) {
			each(leaf[from:mid], leaf[mid:to], native.Uint32(leaf[at:]) == bucketFlag)
		}
	}
}
