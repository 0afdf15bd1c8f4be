package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Bounds of a recording that is read.
const (
	maxRecording = 256 << 20 // decoded bytes
	maxExchanges = 100_000
)

// WriteRecording writes exchanges as NDJSON, a line each, compressed with
// zstd. Equal exchanges give equal bytes.
func WriteRecording(w io.Writer, exchanges []Exchange) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("write a recording: %w", err)
	}
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	for i := range exchanges {
		if err := e.Encode(&exchanges[i]); err != nil {
			return errors.Join(fmt.Errorf("write a recording: %w", err), z.Close())
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("write a recording: %w", err)
	}
	return nil
}

// ReadRecording reads what WriteRecording wrote. It refuses unknown members,
// numbers out of order, and more than the bounds of a recording.
func ReadRecording(r io.Reader) ([]Exchange, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, fmt.Errorf("read a recording: %w", err)
	}
	defer z.Close()
	limited := &io.LimitedReader{R: z, N: maxRecording + 1}
	lines := bufio.NewReader(limited)
	var out []Exchange
	for {
		line, err := lines.ReadBytes('\n')
		if limited.N <= 0 {
			return nil, fmt.Errorf("read a recording: over %d decoded bytes", maxRecording)
		}
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read a recording: line %d: %w", len(out)+1, err)
		}
		if len(out) == maxExchanges {
			return nil, fmt.Errorf("read a recording: over %d exchanges", maxExchanges)
		}
		var x Exchange
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&x); err != nil {
			return nil, fmt.Errorf("read a recording: line %d: %w", len(out)+1, err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read a recording: line %d goes on after its exchange", len(out)+1)
		}
		if x.N != len(out)+1 {
			return nil, fmt.Errorf("read a recording: line %d holds exchange %d", len(out)+1, x.N)
		}
		out = append(out, x)
	}
}
