package sign

import (
	"fmt"

	"github.com/gowebpki/jcs"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	bundlepb "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	commonpb "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	dssepb "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/lustrum-mcp/lustrum/attest"
)

// MediaType of the bundles that Sign writes
// (https://docs.sigstore.dev/about/bundle/).
const MediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// Sign puts a payload of type application/vnd.in-toto+json into a DSSE envelope
// with one signature, and that into a Sigstore bundle whose hint is the key's
// ID. The JSON is canonical (RFC 8785). Payloads and bundles are bounded at
// attest.MaxSize.
func (k *Key) Sign(payload []byte) ([]byte, error) {
	if len(payload) == 0 {
		return nil, fmt.Errorf("sign: the payload is empty")
	}
	// The signature covers the type too, so a signed statement can't be passed
	// off as something else (https://github.com/secure-systems-lab/dsse).
	sig, err := k.sign(dsse.PAE(attest.PayloadType, payload))
	if err != nil {
		return nil, fmt.Errorf("sign the payload: %w", err)
	}
	text, err := protojson.Marshal(&bundlepb.Bundle{
		MediaType: MediaType,
		VerificationMaterial: &bundlepb.VerificationMaterial{
			Content: &bundlepb.VerificationMaterial_PublicKey{
				PublicKey: &commonpb.PublicKeyIdentifier{Hint: k.ID()},
			},
		},
		Content: &bundlepb.Bundle_DsseEnvelope{
			DsseEnvelope: &dssepb.Envelope{
				Payload:     payload,
				PayloadType: attest.PayloadType,
				Signatures:  []*dssepb.Signature{{Sig: sig}},
			},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("write the bundle: %w", err)
	}
	// The protobuf library varies its spacing on purpose; the canonical form
	// takes that away.
	out, err := jcs.Transform(text)
	if err != nil {
		return nil, fmt.Errorf("bring the bundle into canonical form: %w", err)
	}
	if len(out) > attest.MaxSize {
		return nil, fmt.Errorf("sign: the bundle is %d bytes, over the bound of %d", len(out), attest.MaxSize)
	}
	return out, nil
}
