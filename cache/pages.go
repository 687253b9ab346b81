package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
)

// bbolt trusts its file: a page that points to itself ends the process (stack
// overflow cannot be recovered), a wrong count reads foreign memory, and a wrong
// free page is overwritten while in use. So before bbolt maps a file, checkPages
// walks it, or in a large one what an operation may touch, with every bound checked. The layout is bbolt's (internal/common:
// page.go, meta.go, bucket.go) and has not changed since 2013.
const (
	pageHeader  = 16 // id uint64, flags uint16, count uint16, overflow uint32
	element     = 16 // branch: pos, ksize uint32, child uint64; leaf: flags, pos, ksize, vsize uint32
	bucketHead  = 16 // root uint64, sequence uint64
	metaLength  = 64 // magic, version, page size, flags uint32; root, sequence, freelist, high water, txid, checksum uint64
	branchFlag  = 0x01
	leafFlag    = 0x02
	freeFlag    = 0x10
	bucketFlag  = 0x01
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	noFreelist  = ^uint64(0)

	// deepest is how deep pages and buckets may nest. Ours nest two buckets deep
	// and a tree of four levels holds 10^9 records.
	deepest = 64
)

var native = binary.NativeEndian

// pageMeta is one of the two meta pages.
type pageMeta struct {
	pageSize uint32
	root     uint64
	freelist uint64
	high     uint64 // pages from here on are not in use
	txid     uint64
}

// parseMeta reads a meta page from its beginning, or tells why it is invalid.
func parseMeta(page []byte) (pageMeta, error) {
	if len(page) < pageHeader+metaLength {
		return pageMeta{}, errors.New("cut short")
	}
	b := page[pageHeader : pageHeader+metaLength]
	h := fnv.New64a()
	h.Write(b[:metaLength-8])
	switch {
	case native.Uint32(b) != boltMagic:
		return pageMeta{}, errors.New("no bbolt file, or from a processor with another byte order")
	case native.Uint32(b[4:]) != boltVersion:
		return pageMeta{}, errors.New("unknown version of bbolt")
	case native.Uint64(b[56:]) != h.Sum64():
		return pageMeta{}, errors.New("wrong checksum")
	}
	return pageMeta{
		pageSize: native.Uint32(b[8:]),
		root:     native.Uint64(b[16:]),
		freelist: native.Uint64(b[32:]),
		high:     native.Uint64(b[40:]),
		txid:     native.Uint64(b[48:]),
	}, nil
}

// part is what of a tree of pages an operation may touch. bbolt merges a page that
// has become empty with one beside it, so the pages beside those count too.
type part struct {
	all bool             // every page of the tree
	in  map[string]*part // and of these keys: of a bucket, what of it; nil of a record
}

// whole is a tree and all trees in it.
var whole *part

// of is what of the bucket at a key may be touched, and whether that is anything.
func (w *part) of(key []byte) (*part, bool) {
	if w == whole {
		return whole, true
	}
	below, ok := w.in[string(key)]
	return below, ok
}

// touches tells whether the keys from low on and before high may be touched.
func (w *part) touches(low, high []byte) bool {
	if w == whole || w.all {
		return true
	}
	for key := range w.in {
		if k := []byte(key); bytes.Compare(k, low) >= 0 && (high == nil || bytes.Compare(k, high) < 0) {
			return true
		}
	}
	return false
}

// checkPages proves that the pages of a bbolt file which a reader or a writer
// of a part can reach are sound: in bounds, of the right kind, in order and reached once.
// It says nothing about the values: records carry their own checksums. With lost,
// one meta page is invalid and the last transaction may be missing.
func checkPages(data []byte, w *part) (lost bool, err error) {
	_, lost, err = walk(data, w)
	return lost, err
}

// walk is checkPages, and tells which pages it reached.
func walk(data []byte, w *part) (p *pages, lost bool, err error) {
	meta, lost, err := chooseMeta(data)
	if err != nil {
		return nil, false, err
	}
	size := uint64(meta.pageSize)
	if meta.high < 4 || meta.high > uint64(len(data))/size {
		return nil, false, fmt.Errorf("it should have %d pages of %d bytes and has %d bytes: cut short?", meta.high, size, len(data))
	}
	p = &pages{data: data, size: size, high: meta.high, seen: make([]uint64, meta.high/64+1)}
	p.mark(0)
	p.mark(1)
	if err := p.tree(meta.root, w, nil, nil, 0); err != nil {
		return nil, false, err
	}
	if err := p.free(meta.freelist); err != nil {
		return nil, false, err
	}
	return p, lost, nil
}

// chooseMeta finds the meta page that bbolt will use: the valid one with the
// higher transaction. The second page begins one page size into the file, which
// only a valid page tells, so every size is tried.
func chooseMeta(data []byte) (meta pageMeta, lost bool, err error) {
	first, err0 := parseMeta(data)
	if err0 == nil {
		if err := goodSize(first.pageSize); err != nil {
			return pageMeta{}, false, err
		}
		second, err1 := parseMeta(data[min(uint64(first.pageSize), uint64(len(data))):])
		switch {
		case err1 != nil:
			return first, true, nil
		case second.pageSize != first.pageSize:
			return pageMeta{}, false, errors.New("the meta pages disagree on the page size")
		case second.txid > first.txid:
			return second, false, nil
		}
		return first, false, nil
	}
	for size := uint64(1024); size <= 1024<<14 && size < uint64(len(data)); size *= 2 {
		if second, err1 := parseMeta(data[size:]); err1 == nil && uint64(second.pageSize) == size {
			return second, true, nil
		}
	}
	return pageMeta{}, false, fmt.Errorf("both meta pages are invalid: %w", err0)
}

func goodSize(n uint32) error {
	if n < 1024 || n > 1024<<14 || n&(n-1) != 0 {
		return fmt.Errorf("impossible page size %d", n)
	}
	return nil
}

// pages is a walk through a file.
type pages struct {
	data []byte
	size uint64   // of a page
	high uint64   // first page not in use
	seen []uint64 // bit set of the pages reached
}

// mark notes that a page was reached and tells whether it was for the first time.
func (p *pages) mark(id uint64) bool {
	bit := uint64(1) << (id % 64)
	first := p.seen[id/64]&bit == 0
	p.seen[id/64] |= bit
	return first
}

// page is the bytes of a page with its overflow, its kind and its count.
func (p *pages) page(id uint64) (body []byte, flags, count uint16, err error) {
	if id < 2 || id >= p.high {
		return nil, 0, 0, fmt.Errorf("page %d is referred to and lies outside the %d in use", id, p.high)
	}
	head := p.data[id*p.size:]
	overflow := uint64(native.Uint32(head[12:]))
	if own := native.Uint64(head); own != id || id+overflow >= p.high {
		return nil, 0, 0, fmt.Errorf("page %d is damaged: it calls itself %d and spans %d pages", id, own, overflow+1)
	}
	for i := id; i <= id+overflow; i++ {
		if !p.mark(i) {
			return nil, 0, 0, fmt.Errorf("page %d is used twice", i)
		}
	}
	return head[:(overflow+1)*p.size], native.Uint16(head[8:]), native.Uint16(head[10:]), nil
}

// tree walks a page and what is touched of all below it. Its first key must be low, which is how the
// branch above knows it, and all must come before high; nil is no bound. bbolt
// finds a page by the key its branch has for it and makes a second entry if they
// differ.
func (p *pages) tree(id uint64, w *part, low, high []byte, depth int) error {
	if depth > deepest {
		return errors.New("pages nest too deep")
	}
	body, flags, count, err := p.page(id)
	if err != nil {
		return err
	}
	switch flags {
	case leafFlag:
		return p.leaf(id, body, int(count), w, low, high, depth, false)
	case branchFlag:
		return p.branch(id, body, int(count), w, low, high, depth)
	}
	return fmt.Errorf("page %d has the kind %#x where a branch or a leaf must be", id, flags)
}

// elements checks that the table of elements lies within the page.
func elements(id uint64, body []byte, count int) error {
	if pageHeader+count*element > len(body) {
		return fmt.Errorf("page %d cannot have %d elements", id, count)
	}
	return nil
}

// ordered checks that a key follows the one before it, or is low if it is the
// first, and comes before high.
func ordered(id uint64, key, before, low, high []byte) error {
	good := len(key) > 0 && (high == nil || bytes.Compare(key, high) < 0)
	switch {
	case before != nil:
		good = good && bytes.Compare(before, key) < 0
	case low != nil:
		good = good && bytes.Equal(key, low)
	}
	if !good {
		return fmt.Errorf("keys of page %d are out of order", id)
	}
	return nil
}

func (p *pages) branch(id uint64, body []byte, count int, w *part, low, high []byte, depth int) error {
	if count == 0 {
		return fmt.Errorf("page %d is an empty branch", id)
	}
	if err := elements(id, body, count); err != nil {
		return err
	}
	keys := make([][]byte, count)
	for i := range keys {
		at := pageHeader + i*element
		from := uint64(at) + uint64(native.Uint32(body[at:]))
		to := from + uint64(native.Uint32(body[at+4:]))
		if to > uint64(len(body)) {
			return fmt.Errorf("element %d of page %d lies outside the page", i, id)
		}
		keys[i] = body[from:to]
		var before []byte
		if i > 0 {
			before = keys[i-1]
		}
		if err := ordered(id, keys[i], before, low, high); err != nil {
			return err
		}
	}
	next := func(i int) []byte {
		if i+1 < count {
			return keys[i+1]
		}
		return high
	}
	// A key before the first is looked for, and inserted, in the first page.
	touched := func(i int) bool {
		if i < 0 || i >= count {
			return false
		}
		if i == 0 {
			return w.touches(nil, next(i))
		}
		return w.touches(keys[i], next(i))
	}
	before, here, after := false, touched(0), touched(1)
	for i := range keys {
		if before || here || after {
			if err := p.tree(native.Uint64(body[pageHeader+i*element+8:]), w, keys[i], next(i), depth+1); err != nil {
				return err
			}
		}
		before, here, after = here, after, touched(i+2)
	}
	return nil
}

// leaf checks a leaf and the buckets in it. An inline leaf lies in the value of
// a bucket, and has none in it.
func (p *pages) leaf(id uint64, body []byte, count int, w *part, low, high []byte, depth int, inline bool) error {
	if err := elements(id, body, count); err != nil {
		return err
	}
	if count == 0 && low != nil {
		return fmt.Errorf("page %d is an empty leaf", id)
	}
	var before []byte
	for i := range count {
		at := pageHeader + i*element
		flags := native.Uint32(body[at:])
		from := uint64(at) + uint64(native.Uint32(body[at+4:]))
		mid := from + uint64(native.Uint32(body[at+8:]))
		to := mid + uint64(native.Uint32(body[at+12:]))
		if to > uint64(len(body)) {
			return fmt.Errorf("element %d of page %d lies outside the page", i, id)
		}
		key, value := body[from:mid], body[mid:to]
		if err := ordered(id, key, before, low, high); err != nil {
			return err
		}
		before = key
		switch {
		case flags == 0:
		case flags == bucketFlag && !inline:
			below, touched := w.of(key)
			if err := p.bucket(id, value, below, touched, depth+1); err != nil {
				return err
			}
		default:
			return fmt.Errorf("element %d of page %d is of an unknown kind %#x", i, id, flags)
		}
	}
	return nil
}

// bucket checks the value of a bucket that lies on page id, and its pages if they are touched.
func (p *pages) bucket(id uint64, value []byte, w *part, touched bool, depth int) error {
	if len(value) < bucketHead {
		return fmt.Errorf("a bucket on page %d is cut short", id)
	}
	if root := native.Uint64(value); root != 0 {
		if !touched {
			return nil
		}
		return p.tree(root, w, nil, nil, depth)
	}
	page := value[bucketHead:]
	if len(page) < pageHeader || native.Uint16(page[8:]) != leafFlag || native.Uint32(page[12:]) != 0 {
		return fmt.Errorf("a bucket within page %d is damaged", id)
	}
	return p.leaf(id, page, int(native.Uint16(page[10:])), w, nil, nil, depth, true)
}

// free checks that the list of free pages names each once and none in use. A
// file may have no such list; bbolt then finds the free pages by itself.
func (p *pages) free(id uint64) error {
	if id == noFreelist {
		return nil
	}
	body, flags, small, err := p.page(id)
	if err != nil {
		return err
	}
	if flags != freeFlag {
		return fmt.Errorf("page %d has the kind %#x where the list of free pages must be", id, flags)
	}
	list, count := body[pageHeader:], uint64(small)
	if small == 0xFFFF { // the first element is the count then
		count, list = native.Uint64(list), list[8:]
	}
	if count > uint64(len(list))/8 {
		return fmt.Errorf("page %d cannot list %d free pages", id, count)
	}
	for i := range count {
		if f := native.Uint64(list[i*8:]); f < 2 || f >= p.high || !p.mark(f) {
			return fmt.Errorf("page %d is listed as free and is not", f)
		}
	}
	return nil
}
