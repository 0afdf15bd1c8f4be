package attest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gowebpki/jcs"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Errors that tell apart why bytes were refused; all of them are wrapped with
// the place and the next step.
var (
	ErrTooLarge     = errors.New("too large")
	ErrUnknownField = errors.New("unknown field")
	ErrNotCanonical = errors.New("not canonical")
)

// Digest is the SHA-256 of b in lower-case hex: the name of a statement
// everywhere.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// canonical writes v as RFC 8785 JSON of at most MaxSize bytes.
func canonical(v any) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	out, err := jcs.Transform(plain)
	if err != nil {
		return nil, fmt.Errorf("bring JSON into canonical form: %w", err)
	}
	if len(out) > MaxSize {
		return nil, fmt.Errorf("%d bytes is over the bound of %d: %w", len(out), MaxSize, ErrTooLarge)
	}
	return out, nil
}

// parse reads canonical JSON into v and refuses everything else: more than
// MaxSize bytes, several values, duplicate members, unknown members, and bytes
// that are not in canonical form. The caller compares with its own encoding
// afterwards, which also finds members that are missing or spelled in another
// case.
func parse(raw []byte, v any) error {
	if len(raw) > MaxSize {
		return fmt.Errorf("%d bytes is over the bound of %d: %w", len(raw), MaxSize, ErrTooLarge)
	}
	canon, err := jcs.Transform(raw)
	if err != nil {
		return fmt.Errorf("not one JSON document with unique members: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if name, ok := unknownField(err); ok {
			return fmt.Errorf("%w %q", ErrUnknownField, name)
		}
		return fmt.Errorf("read JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("data after the JSON document")
	}
	if !bytes.Equal(canon, raw) {
		return fmt.Errorf("the bytes differ from their canonical form (RFC 8785) at offset %d: %w", mismatch(canon, raw), ErrNotCanonical)
	}
	return nil
}

// unknownField recognises the one error of encoding/json that has no type.
func unknownField(err error) (string, bool) {
	const prefix = "json: unknown field "
	text := err.Error()
	if len(text) < len(prefix) || text[:len(prefix)] != prefix {
		return "", false
	}
	name, uerr := strconv.Unquote(text[len(prefix):])
	if uerr != nil {
		return text[len(prefix):], true
	}
	return name, true
}

func mismatch(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// sameBytes says where raw and the encoding of what was read from it differ.
func sameBytes(raw, again []byte) error {
	if bytes.Equal(raw, again) {
		return nil
	}
	return fmt.Errorf("%s is not as this format writes it: %w", Difference(raw, again), ErrNotCanonical)
}

// inToto holds subjects against the in-toto Statement v1 rules as its own
// library reads them (https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md):
// at least one subject, each with digests of the right length. The predicate is
// left out: the library would build a tree of it that nobody reads.
func inToto(subjects []Subject) error {
	st := &intoto.Statement{Type: StatementType, PredicateType: PredicateType, Predicate: &structpb.Struct{}}
	for _, s := range subjects {
		st.Subject = append(st.Subject, &intoto.ResourceDescriptor{Name: s.Name, Digest: s.Digest})
	}
	if err := st.Validate(); err != nil {
		return fmt.Errorf("subject: not an in-toto statement: %w", err)
	}
	return nil
}

// Difference names the first place, in the order of member names, where two
// JSON documents differ, as a path such as "predicate.verdicts[3].status". It
// is empty when they hold the same, and "the document" when one of them cannot
// be read.
func Difference(a, b []byte) string {
	var x, y any
	if decodeAny(a, &x) != nil || decodeAny(b, &y) != nil {
		return "the document"
	}
	path, differ := difference(x, y, "")
	if !differ {
		return ""
	}
	if path == "" {
		return "the document"
	}
	return path
}

func decodeAny(raw []byte, v *any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(v)
}

func difference(a, b any, path string) (string, bool) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return path, true
		}
		return memberDifference(x, y, path)
	case []any:
		y, ok := b.([]any)
		if !ok {
			return path, true
		}
		for i := range min(len(x), len(y)) {
			if p, d := difference(x[i], y[i], fmt.Sprintf("%s[%d]", path, i)); d {
				return p, true
			}
		}
		if len(x) != len(y) {
			return fmt.Sprintf("%s[%d]", path, min(len(x), len(y))), true
		}
		return "", false
	default:
		return path, a != b
	}
}

func memberDifference(x, y map[string]any, path string) (string, bool) {
	names := make([]string, 0, len(x)+len(y))
	for name := range x {
		names = append(names, name)
	}
	for name := range y {
		if _, both := x[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		at := name
		if path != "" {
			at = path + "." + name
		}
		xv, inX := x[name]
		yv, inY := y[name]
		if inX != inY {
			return at, true
		}
		if p, d := difference(xv, yv, at); d {
			return p, true
		}
	}
	return "", false
}
