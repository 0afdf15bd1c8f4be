package graph

import (
	"strconv"
	"strings"

	"github.com/cayleygraph/quad"
)

// Every name in the store is an IRI with a prefix that says what it is: a kind
// ("server:"), "edge:", "field:", "meta:" for bookkeeping, "finding:" for the
// nodes that edges with properties are kept as, and the labels "attestation:",
// "entry:", "source:", "derived:" and "applied:".
const (
	metaKind  = quad.IRI("meta:kind")  // of a node
	metaOf    = quad.IRI("meta:of")    // entry of a source; applied digest of a server
	metaState = quad.IRI("meta:state") // pending, while an apply is not finished
	toCheck   = quad.IRI("edge:check") // of a finding

	pending = quad.String("pending")

	// partSize bounds the quads under one label: Cayley reads the whole list of
	// a label for each quad it removes.
	partSize = 1000
)

func edgeIRI(name string) quad.IRI  { return quad.IRI("edge:" + name) }
func fieldIRI(name string) quad.IRI { return quad.IRI("field:" + name) }

// nodeIRI names a node. Keys are free text that others control: what can't
// stand in an IRI is percent-encoded, so that two keys never share a name.
func nodeIRI(kind, key string) quad.IRI { return quad.IRI(kind + ":" + escapeKey(key)) }

func (n Node) iri() quad.IRI { return nodeIRI(n.Kind, n.Key) }

// parseNode reads a name back; ok is false for anything that is no node.
func parseNode(v quad.Value) (Node, bool) {
	iri, ok := v.(quad.IRI)
	if !ok {
		return Node{}, false
	}
	kind, key, ok := strings.Cut(string(iri), ":")
	if !ok {
		return Node{}, false
	}
	if _, ok := kindOf(kind); !ok {
		return Node{}, false
	}
	key, ok = unescapeKey(key)
	return Node{Kind: kind, Key: key, Name: key}, ok
}

const keyBytes = "-._~:/?@!$&'()*+,;=[]"

func escapeKey(key string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(key); i++ {
		c := key[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(keyBytes, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

func unescapeKey(s string) (string, bool) {
	if !strings.Contains(s, "%") {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), true
}

// text is a string as the store can hold it: valid UTF-8.
func text(s string) quad.String { return quad.String(strings.ToValidUTF8(s, "\uFFFD")) }

// part is the label of the nth thousand of the quads under a label.
func part(base quad.IRI, n int) quad.IRI {
	if n == 0 {
		return base
	}
	return base + quad.IRI("#"+strconv.Itoa(n))
}

// evidence is the statement digest that a label names, or "".
func evidence(label quad.Value) string {
	iri, _ := label.(quad.IRI)
	digest, ok := strings.CutPrefix(string(iri), "attestation:")
	if !ok {
		return ""
	}
	digest, _, _ = strings.Cut(digest, "#")
	return digest
}
