package sign

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

const (
	privateBlock = "PRIVATE KEY" // PKCS #8, RFC 5958 and RFC 7468 section 10
	publicBlock  = "PUBLIC KEY"  // SubjectPublicKeyInfo, RFC 7468 section 13
)

// Key is a signing key. Make one with LoadOrMake, Load or Parse. It is safe for
// use by several goroutines.
type Key struct {
	signer crypto.Signer
	spki   []byte // DER of the SubjectPublicKeyInfo
}

// Parse reads a PKCS #8 private key in PEM: Ed25519 or ECDSA on P-256.
func Parse(text []byte) (*Key, error) {
	block, rest := pem.Decode(text)
	if block == nil {
		return nil, errors.New("no PEM block found; expected a PKCS #8 private key")
	}
	switch block.Type {
	case privateBlock:
	case "EC PRIVATE KEY":
		return nil, errors.New("the key is in the older SEC 1 form; convert it with: openssl pkcs8 -topk8 -nocrypt -in KEY -out NEW")
	case "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("the key is encrypted; decrypt it with: openssl pkcs8 -in KEY -out NEW")
	case publicBlock:
		return nil, errors.New("this is a public key; signing needs the private one")
	default:
		return nil, fmt.Errorf("PEM block %q is not a PKCS #8 private key", block.Type)
	}
	if strings.TrimSpace(string(rest)) != "" {
		return nil, errors.New("data after the private key; keep one key in a file")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("not a PKCS #8 private key: %w", err)
	}
	return newKey(parsed)
}

func newKey(private any) (*Key, error) {
	switch k := private.(type) {
	case ed25519.PrivateKey:
	case *ecdsa.PrivateKey:
		if k.Curve != elliptic.P256() {
			return nil, fmt.Errorf("the ECDSA key is on curve %s; only P-256 is supported", k.Curve.Params().Name)
		}
	default:
		return nil, fmt.Errorf("a key of type %T cannot sign here; use Ed25519 or ECDSA P-256", private)
	}
	signer := private.(crypto.Signer)
	spki, err := x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return nil, fmt.Errorf("encode the public key: %w", err)
	}
	return &Key{signer: signer, spki: spki}, nil
}

// generate makes an Ed25519 key and returns it with its PEM text.
func generate() (*Key, []byte, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make an Ed25519 key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the private key: %w", err)
	}
	key, err := newKey(private)
	if err != nil {
		return nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: privateBlock, Bytes: der}), nil
}

// Public is the public half: ed25519.PublicKey or *ecdsa.PublicKey.
func (k *Key) Public() crypto.PublicKey { return k.signer.Public() }

// PublicPEM is the public half as SubjectPublicKeyInfo in PEM, the file that
// the site publishes.
func (k *Key) PublicPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: k.spki})
}

// ID is the base64 of the SHA-256 of the SubjectPublicKeyInfo, the form that
// the bundle specification recommends for a hint.
func (k *Key) ID() string {
	sum := sha256.Sum256(k.spki)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// sign signs a message: Ed25519 over the message itself (RFC 8032), ECDSA over
// its SHA-256 in ASN.1 form.
func (k *Key) sign(message []byte) ([]byte, error) {
	if _, ok := k.signer.(ed25519.PrivateKey); ok {
		return k.signer.Sign(rand.Reader, message, crypto.Hash(0))
	}
	sum := sha256.Sum256(message)
	return k.signer.Sign(rand.Reader, sum[:], crypto.SHA256)
}
