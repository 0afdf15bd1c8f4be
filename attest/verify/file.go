package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/lustrum-mcp/lustrum/attest"
)

// File judges a statement file with its bundle beside it (FILE.sigstore.json),
// or a bundle by itself. An error means that it could not be read, which is not
// a judgement: too large, not there, not JSON.
func File(path string, o Options) (*Result, error) {
	raw, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("verify %q: %w", path, err)
	}
	in := Input{Options: o}
	if isBundle(raw) {
		in.Bundle = raw
	} else {
		if !json.Valid(raw) {
			return nil, fmt.Errorf("verify %q: neither a statement nor a bundle: not JSON", path)
		}
		in.Statement = raw
		if in.Bundle, err = beside(path); err != nil {
			return nil, fmt.Errorf("verify %q: %w", path, err)
		}
	}
	r := Statement(in)
	r.File = path
	return r, nil
}

// beside reads the bundle of a statement file; nil when there is none.
func beside(path string) ([]byte, error) {
	for _, name := range []string{path + attest.BundleSuffix, strings.TrimSuffix(path, ".json") + attest.BundleSuffix} {
		raw, err := readFile(name)
		if err == nil {
			return raw, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, nil
}

// isBundle tells a bundle from a statement by the one member that only a
// bundle has.
func isBundle(raw []byte) bool {
	var head struct {
		MediaType string `json:"mediaType"`
	}
	return json.Unmarshal(raw, &head) == nil && head.MediaType != ""
}

// readFile reads at most attest.MaxSize bytes.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, path)
}

func readBounded(r io.Reader, name string) ([]byte, error) {
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(r, attest.MaxSize+1))
	if err != nil {
		return nil, err
	}
	if n > attest.MaxSize {
		return nil, fmt.Errorf("%q is over the bound of %d bytes", name, attest.MaxSize)
	}
	return buf.Bytes(), nil
}
