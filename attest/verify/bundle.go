package verify

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	dssepb "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"

	"github.com/lustrum-mcp/lustrum/attest"
)

// mediaType is the one version of the bundle format that is read
// (https://docs.sigstore.dev/about/bundle/).
const mediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// ErrNoKey is returned when a bundle could not be judged because no key was
// given.
var ErrNoKey = errors.New("no public key was given")

// Bundle verifies the one signature of a Sigstore bundle against the keys and
// returns the payload it covers. It needs no network and no clock: a key is
// trusted for as long as the caller hands it in. Errors: ErrNoKey without keys;
// anything else means not verified.
func Bundle(raw []byte, keys ...Key) (payload []byte, err error) {
	b, payload, err := open(raw)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("verify the bundle: %w", ErrNoKey)
	}
	if err := verifySignature(b, keys); err != nil {
		return nil, err
	}
	return payload, nil
}

// Payload returns what a bundle carries without judging its signature.
func Payload(raw []byte) ([]byte, error) {
	_, payload, err := open(raw)
	return payload, err
}

func verifySignature(b *bundle.Bundle, keys []Key) error {
	trusted := root.NewTrustedPublicKeyMaterial(func(hint string) (root.TimeConstrainedVerifier, error) {
		for _, k := range keys {
			if k.verifier != nil && k.id == hint {
				return root.NewExpiringKey(k.verifier, time.Time{}, time.Time{}), nil
			}
		}
		return nil, fmt.Errorf("it names the key %q, which is not among the keys given", hint)
	})
	v, err := verify.NewVerifier(trusted, verify.WithNoObserverTimestamps(), verify.WithoutStatementPredicate())
	if err != nil {
		return fmt.Errorf("set up the verifier: %w", err)
	}
	// The subject of a statement is an endpoint and not a file, so there is no
	// artifact to hand in: the subject is a criterion of its own.
	if _, err := v.Verify(b, verify.NewPolicy(verify.WithoutArtifactUnsafe(), verify.WithKey())); err != nil {
		return fmt.Errorf("the signature does not verify: %w", err)
	}
	return nil
}

// open reads a bundle and holds its envelope against what this format allows:
// an in-toto payload under exactly one signature.
func open(raw []byte) (*bundle.Bundle, []byte, error) {
	if len(raw) > attest.MaxSize {
		return nil, nil, fmt.Errorf("the bundle is %d bytes, over the bound of %d", len(raw), attest.MaxSize)
	}
	var b bundle.Bundle
	if err := b.UnmarshalJSON(raw); err != nil {
		return nil, nil, fmt.Errorf("not a Sigstore bundle: %w", err)
	}
	if b.GetMediaType() != mediaType {
		return nil, nil, fmt.Errorf("the bundle's media type is %q, not %q", b.GetMediaType(), mediaType)
	}
	env := b.GetDsseEnvelope()
	if env == nil {
		return nil, nil, errors.New("the bundle holds no DSSE envelope")
	}
	if env.GetPayloadType() != attest.PayloadType {
		return nil, nil, fmt.Errorf("the payload type is %q, not %q", env.GetPayloadType(), attest.PayloadType)
	}
	if n := len(env.GetSignatures()); n != 1 {
		return nil, nil, fmt.Errorf("the envelope holds %d signatures; exactly one is required", n)
	}
	sig := env.GetSignatures()[0]
	if len(sig.GetSig()) == 0 {
		return nil, nil, errors.New("the envelope's signature is empty")
	}
	if hint := b.GetVerificationMaterial().GetPublicKey().GetHint(); sig.GetKeyid() != "" && hint != "" && sig.GetKeyid() != hint {
		return nil, nil, fmt.Errorf("the signature names the key %q, the bundle %q", sig.GetKeyid(), hint)
	}
	if err := exactBase64(raw, env); err != nil {
		return nil, nil, err
	}
	return &b, env.GetPayload(), nil
}

// exactBase64 refuses spellings of the payload and the signature that decode to
// the same bytes (other alphabet, loose trailing bits): a changed byte anywhere
// has to be noticed.
func exactBase64(raw []byte, env *dssepb.Envelope) error {
	var text struct {
		DSSEEnvelope struct {
			Payload    string `json:"payload"`
			Signatures []struct {
				Sig string `json:"sig"`
			} `json:"signatures"`
		} `json:"dsseEnvelope"`
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return fmt.Errorf("not a Sigstore bundle: %w", err)
	}
	e := text.DSSEEnvelope
	if e.Payload != base64.StdEncoding.EncodeToString(env.GetPayload()) {
		return errors.New("the payload is not in standard base64")
	}
	if len(e.Signatures) != 1 || e.Signatures[0].Sig != base64.StdEncoding.EncodeToString(env.GetSignatures()[0].GetSig()) {
		return errors.New("the signature is not in standard base64")
	}
	return nil
}
