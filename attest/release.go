package attest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/gowebpki/jcs"
)

// A release is a whole published folder: site, editions, statements. Its
// SumsFile lists every other file, as sha256sum prints them, and ReleaseFile is
// a signed statement about SumsFile.
const (
	ReleaseType = "https://lustrum-mcp.github.io/attestation/release/v1"
	ReleaseFile = "release.json"
	SumsFile    = "SHA256SUMS"
)

// ReleaseStatement is an in-toto statement whose one subject is SumsFile.
type ReleaseStatement struct {
	Type          string           `json:"_type"`
	Subject       []Subject        `json:"subject"`
	PredicateType string           `json:"predicateType"`
	Predicate     ReleasePredicate `json:"predicate"`
}

// ReleasePredicate says which edition the release was made for.
type ReleasePredicate struct {
	Edition string `json:"edition"` // YYYY-MM-DD, the newest in the folder
}

// EncodeRelease returns the canonical statement (RFC 8785) about a list of
// files.
func EncodeRelease(edition string, sums []byte) ([]byte, error) {
	raw, err := json.Marshal(ReleaseStatement{
		Type: StatementType, PredicateType: ReleaseType, Predicate: ReleasePredicate{Edition: edition},
		Subject: []Subject{{Name: SumsFile, Digest: map[string]string{"sha256": Digest(sums)}}},
	})
	if err != nil {
		return nil, fmt.Errorf("write the release statement: %w", err)
	}
	return jcs.Transform(raw)
}

// DecodeRelease reads what EncodeRelease wrote, and nothing else: unknown
// members, another order or another spelling are refused.
func DecodeRelease(raw []byte) (*ReleaseStatement, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("read the release statement: %w", ErrTooLarge)
	}
	var s ReleaseStatement
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("read the release statement: %w", err)
	}
	if s.Type != StatementType || s.PredicateType != ReleaseType {
		return nil, fmt.Errorf("read the release statement: type %q with predicate %q is none", s.Type, s.PredicateType)
	}
	if len(s.Subject) != 1 || s.Subject[0].Name != SumsFile || len(s.Subject[0].Digest) != 1 || s.Subject[0].Digest["sha256"] == "" {
		return nil, fmt.Errorf("read the release statement: its one subject must be %s with a sha256", SumsFile)
	}
	again, err := json.Marshal(s)
	if err == nil {
		again, err = jcs.Transform(again)
	}
	if err != nil || !bytes.Equal(again, raw) {
		return nil, fmt.Errorf("read the release statement: %w", ErrNotCanonical)
	}
	return &s, nil
}

// Sums lists every file below root with its SHA-256, sorted by path, without
// the list itself and the statement over it.
func Sums(root fs.FS) ([]byte, error) {
	paths, err := Paths(root)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, path := range paths {
		if OfRelease(path) {
			continue
		}
		sum, err := FileDigest(root, path)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, path)
	}
	return b.Bytes(), nil
}

// OfRelease reports whether a path is one of the three files that hold the
// list of all others.
func OfRelease(path string) bool {
	return path == SumsFile || path == ReleaseFile || path == ReleaseFile+BundleSuffix
}

// maxSums bounds SumsFile, in bytes: a million files of 128 bytes a line.
const maxSums = 128 << 20

// ParseSums reads a list that Sums wrote into digests by path.
func ParseSums(r io.Reader) (map[string]string, error) {
	limited := &io.LimitedReader{R: r, N: maxSums + 1}
	lines := bufio.NewReader(limited)
	out := map[string]string{}
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if limited.N <= 0 {
			return nil, fmt.Errorf("read %s: %w", SumsFile, ErrTooLarge)
		}
		if errors.Is(err, io.EOF) && line == "" {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: line %d does not end: %w", SumsFile, n, err)
		}
		sum, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "" {
			return nil, fmt.Errorf("read %s: line %d is not a SHA-256 and a path", SumsFile, n)
		}
		if err := CheckPath(path); err != nil {
			return nil, fmt.Errorf("read %s: line %d: %w", SumsFile, n, err)
		}
		if out[path] != "" {
			return nil, fmt.Errorf("read %s: %q stands twice", SumsFile, path)
		}
		out[path] = sum
	}
}
