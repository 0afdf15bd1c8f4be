package verify

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/sigstore/sigstore/pkg/signature"
)

// Key is a public key that the caller trusts. Make one with ParseKey or LoadKey.
type Key struct {
	id       string
	verifier signature.Verifier
}

// ID is the base64 of the SHA-256 of the SubjectPublicKeyInfo: what a bundle's
// hint names.
func (k Key) ID() string { return k.id }

// ParseKey reads one public key in PEM (SubjectPublicKeyInfo): Ed25519 or ECDSA
// on P-256.
func ParseKey(text []byte) (Key, error) {
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return Key{}, errors.New("no PEM block found; expected a public key")
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return Key{}, errors.New("this is a private key; verifying needs the public one, and nobody should be handed this file")
	case block.Type != "PUBLIC KEY":
		return Key{}, fmt.Errorf("PEM block %q is not a public key", block.Type)
	case strings.TrimSpace(string(rest)) != "":
		return Key{}, errors.New("data after the public key; keep one key in a file")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return Key{}, fmt.Errorf("not a public key: %w", err)
	}
	switch k := public.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return Key{}, fmt.Errorf("the ECDSA key is on curve %s; only P-256 is supported", k.Curve.Params().Name)
		}
	default:
		return Key{}, fmt.Errorf("a key of type %T cannot be used here; use Ed25519 or ECDSA P-256", public)
	}
	verifier, err := signature.LoadVerifier(public, crypto.SHA256)
	if err != nil {
		return Key{}, fmt.Errorf("use the public key: %w", err)
	}
	sum := sha256.Sum256(block.Bytes)
	return Key{id: base64.StdEncoding.EncodeToString(sum[:]), verifier: verifier}, nil
}

// LoadKey reads a public key file (see ParseKey).
func LoadKey(path string) (Key, error) {
	text, err := readFile(path)
	if err != nil {
		return Key{}, fmt.Errorf("read the public key: %w", err)
	}
	key, err := ParseKey(text)
	if err != nil {
		return Key{}, fmt.Errorf("read the public key %q: %w", path, err)
	}
	return key, nil
}
