package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lustrum-mcp/lustrum/attest"
)

// MaxEvidence bounds one recording, in bytes.
const MaxEvidence = 256 << 20

// EvidencePath is the file of the recording with a digest.
func (s *Store) EvidencePath(digest string) (string, error) {
	if attest.StatementPath(digest) == "" {
		return "", fmt.Errorf("look up the evidence %q: %w", digest, ErrDigest)
	}
	return filepath.Join(s.evidence(), digest[:2], digest), nil
}

// PutEvidence keeps what r gives and returns its SHA-256 and size, which go
// into the statement. It is streamed, so a recording need not fit in memory;
// one over MaxEvidence is refused. Only the owner can read it.
func (s *Store) PutEvidence(r io.Reader) (digest string, size int64, err error) {
	tmp, err := os.CreateTemp(s.evidence(), tempPrefix+"*") // 0600
	if err != nil {
		return "", 0, fmt.Errorf("store evidence: %w", err)
	}
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(tmp, h), io.LimitReader(r, MaxEvidence+1))
	if err == nil && size > MaxEvidence {
		err = fmt.Errorf("the recording is over the bound of %d bytes", int64(MaxEvidence))
	}
	digest = hex.EncodeToString(h.Sum(nil))
	path := filepath.Join(s.evidence(), digest[:2], digest)
	if err == nil {
		err = makeDir(filepath.Dir(path), 0o700)
	}
	if err = commit(tmp, path, err); err != nil {
		return "", 0, fmt.Errorf("store evidence: %w", err)
	}
	return digest, size, nil
}

// GetEvidence returns a recording after holding it against its digest; errors
// are ErrDigest, ErrNotFound and ErrCorrupted.
func (s *Store) GetEvidence(digest string) ([]byte, error) {
	path, err := s.EvidencePath(digest)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("evidence %s: %w", digest, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxEvidence+1))
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	if got := attest.Digest(data); got != digest {
		return nil, corrupted(path, fmt.Sprintf("its content has the digest %s", got))
	}
	return data, nil
}
