package mcp

import (
	"encoding/json"
	"strconv"
	"strings"
)

// idMatch says how the id of a response relates to the id that was sent.
type idMatch int

const (
	idOther idMatch = iota // another id, or none
	idType                 // "1" for 1, or 1 for "1"
	idForm                 // the same number written otherwise
	idSame
)

// matchID compares two ids as text. A number is never turned into a float64:
// 9007199254740993 and 9007199254740992 are two ids.
func matchID(sent, got json.RawMessage) idMatch {
	sentKind, gotKind := kindOf(sent), kindOf(got)
	a, b := idText(sent), idText(got)
	switch {
	case sentKind == ' ' || gotKind == ' ' || a != b:
		return idOther
	case sentKind != gotKind:
		return idType
	case sentKind == 'n' && strings.TrimSpace(string(sent)) != strings.TrimSpace(string(got)):
		return idForm
	}
	return idSame
}

// idText returns the text of an id without its type: the decoded string, or
// the number in one spelling.
func idText(id json.RawMessage) string {
	switch kindOf(id) {
	case 's':
		s, _ := stringOf(id)
		return s
	case 'n':
		return plainNumber(strings.TrimSpace(string(id)))
	}
	return strings.TrimSpace(string(id))
}

// idKey is idText with the type in front, to find a pending request by.
func idKey(id json.RawMessage) string { return string(kindOf(id)) + idText(id) }

// plainNumber writes a JSON number in one spelling, exactly: 1, 1.0, 10e-1 and
// 0.1e1 all give "1". A number with an exponent beyond 40 keeps its own
// spelling.
func plainNumber(text string) string {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		e, err := strconv.Atoi(text[i+1:])
		if err != nil || e > 40 || e < -40 {
			return text
		}
		mantissa, exponent = text[:i], e
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	for strings.HasSuffix(digits, "0") && exponent < 0 {
		digits, exponent = digits[:len(digits)-1], exponent+1
	}
	switch {
	case digits == "":
		return "0"
	case exponent > 0:
		digits += strings.Repeat("0", exponent)
	case exponent < 0:
		digits += "e" + strconv.Itoa(exponent)
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// integerOf reads a number that is an integer of 64 bits. exact is false when
// it was written with a point or an exponent.
func integerOf(raw json.RawMessage) (value int64, exact, ok bool) {
	if kindOf(raw) != 'n' {
		return 0, false, false
	}
	text := strings.TrimSpace(string(raw))
	plain := plainNumber(text)
	value, err := strconv.ParseInt(plain, 10, 64)
	return value, plain == text, err == nil
}
