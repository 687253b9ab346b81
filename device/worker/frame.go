package worker

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// maxFrame bounds what a broken or foreign peer can make us read, in bytes. The
// largest honest frame holds an image: some 100 KB, a few MB for the worst
// unrolled kernel.
const maxFrame = 256 << 20

// headerBytes is the length before each frame: 4 bytes, big endian.
const headerBytes = 4

// fits tells whether a frame may have n bytes.
func fits(n int64) error {
	if n > maxFrame {
		return fmt.Errorf("%d bytes, more than the %d a frame may have", n, maxFrame)
	}
	return nil
}

// encodeFrame makes a frame, header included, of v's JSON.
func encodeFrame(v any) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, headerBytes))
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a kernel is full of < and &
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode frame: %w", err)
	}
	n := b.Len() - headerBytes
	if err := fits(int64(n)); err != nil {
		return nil, fmt.Errorf("encode frame: %w", err)
	}
	binary.BigEndian.PutUint32(b.Bytes(), uint32(n))
	return b.Bytes(), nil
}

// readFrame reads one frame and gives its JSON. io.EOF means that the peer ended
// between frames. Memory grows with what arrives, not with what a header claims.
func readFrame(r io.Reader) ([]byte, error) {
	var header [headerBytes]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(header[:]))
	if err := fits(n); err != nil {
		return nil, fmt.Errorf("read frame: %w; it begins with %q", err, header[:])
	}
	var b bytes.Buffer
	b.Grow(int(min(n, 64<<10)) + bytes.MinRead)
	got, err := b.ReadFrom(io.LimitReader(r, n))
	if err != nil {
		return nil, fmt.Errorf("read frame: %w", err)
	}
	if got < n {
		return nil, fmt.Errorf("read frame: %d of %d bytes: %w", got, n, io.ErrUnexpectedEOF)
	}
	return b.Bytes(), nil
}
