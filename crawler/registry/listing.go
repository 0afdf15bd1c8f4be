package registry

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds of a listing in a file.
const (
	MaxListing        = 1 << 30 // bytes, decompressed
	MaxListingEntries = DefaultMaxEntries
)

// ReadListing reads the entries of a listing in a file, plain or gzip: a JSON
// array of entries, one page or more of the list route ({"servers":[…]}), or
// JSON Lines of entries or pages. The entries are as they were given, whatever
// they hold. Bounds are MaxListing and MaxListingEntries.
func ReadListing(r io.Reader) ([]json.RawMessage, error) {
	buffered := bufio.NewReader(r)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("listing: reading gzip: %w", err)
		}
		defer z.Close()
		buffered = bufio.NewReader(&boundedReader{r: z, left: MaxListing})
	} else {
		buffered = bufio.NewReader(&boundedReader{r: buffered, left: MaxListing})
	}
	if bom, _ := buffered.Peek(3); bytes.Equal(bom, []byte("\ufeff")) {
		_, _ = buffered.Discard(3) // peeked
	}
	var entries []json.RawMessage
	decoder := json.NewDecoder(buffered)
	for n := 1; ; n++ {
		var value json.RawMessage
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("listing: JSON value %d, after byte %d: %w", n, decoder.InputOffset(), err)
		}
		some, err := listed(value)
		if err != nil {
			return nil, fmt.Errorf("listing: JSON value %d: %w", n, err)
		}
		if entries = append(entries, some...); len(entries) > MaxListingEntries {
			return nil, fmt.Errorf("listing: more than %d entries; split the file", MaxListingEntries)
		}
	}
	if len(entries) == 0 {
		return nil, errors.New("listing: it holds no entry; give a registry's answers or its entries as a JSON array or JSON Lines")
	}
	return entries, nil
}

// listed returns the entries of one top-level value.
func listed(value json.RawMessage) ([]json.RawMessage, error) {
	switch value[0] {
	case '[':
		var list []json.RawMessage
		err := json.Unmarshal(value, &list)
		return list, err
	case '{':
		var top map[string]json.RawMessage
		if err := json.Unmarshal(value, &top); err != nil {
			return nil, err
		}
		servers, isPage := top["servers"]
		if !isPage {
			return []json.RawMessage{value}, nil
		}
		var list []json.RawMessage
		if err := json.Unmarshal(servers, &list); err != nil {
			return nil, errors.New(`"servers" is not a list`)
		}
		return list, nil
	}
	return nil, errors.New("neither an entry nor a list of entries")
}

// boundedReader fails, unlike io.LimitReader, when there is more than it lets
// through: a listing cut short would look like a smaller one.
type boundedReader struct {
	r    io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		var one [1]byte
		if n, err := b.r.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("over %d bytes; split the file", MaxListing)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}
