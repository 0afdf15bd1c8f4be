package graph

import (
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/internal/near"
)

// FieldType is the type of a field, by its name in CEL.
type FieldType string

// Types of fields.
const (
	String    FieldType = "string"
	Double    FieldType = "double"
	Bool      FieldType = "bool"
	Timestamp FieldType = "timestamp"
)

// Kind is one kind of node. A shared kind has no facts of its own: a node of it
// exists as long as an edge names it.
type Kind struct {
	Name   string
	Doc    string
	Shared bool
	Fields []Field
}

// Field is one property of a kind. A field with From is computed from the key:
// "key" is the key itself, "name" what follows its first "/", "phase" what
// stands before its first ".".
type Field struct {
	Name string
	Type FieldType
	Doc  string
	From string
}

// Edge is one way to get from a kind to a kind.
type Edge struct {
	Name, From, To string
	Doc            string
	Inherits       bool   // From inherits what To has
	Passage        bool   // nothing is inherited from To, but through it
	Finding        bool   // carries status and severity: a node of its own in the store
	Via            string // joins nodes of different servers that have the same value of this field
}

// kinds and edges are the schema: everything that the graph can say. Field
// names are those of the attestation.
var kinds = []Kind{
	{Name: "server", Doc: "an endpoint; the key is the endpoint id", Fields: []Field{
		{Name: "id", Type: String, From: "key", Doc: "endpoint id"},
		{Name: "endpoint", Type: String, Doc: "canonical URL"},
		{Name: "transport", Type: String, Doc: "streamable-http or sse"},
		{Name: "auth", Type: String, Doc: "open, protected, oauth or unreachable"},
		{Name: "era", Type: String, Doc: "protocol era"},
		{Name: "score", Type: Double, Doc: "0 to 100; absent when nothing was assessed"},
		{Name: "coverage", Type: Double, Doc: "assessed weight of the rubric, percent"},
		{Name: "grade", Type: String, Doc: "A, B, C, D or F; absent when nothing was assessed"},
		{Name: "finished_at", Type: Timestamp, Doc: "end of the check that is current"},
	}},
	{Name: "tool", Doc: "a tool of a server; the key is the server's, \"/\" and the name", Fields: []Field{
		{Name: "name", Type: String, From: "name", Doc: "name as listed"},
		{Name: "readOnly", Type: Bool, Doc: "readOnlyHint, or the protocol's default: false"},
		{Name: "destructive", Type: Bool, Doc: "not read-only, and destructiveHint or the protocol's default: true"},
		{Name: "readOnlyHint", Type: Bool, Doc: "as given; absent when it was not"},
		{Name: "destructiveHint", Type: Bool, Doc: "as given; absent when it was not"},
		{Name: "idempotentHint", Type: Bool, Doc: "as given; absent when it was not"},
		{Name: "openWorldHint", Type: Bool, Doc: "as given; absent when it was not"},
		{Name: "definition", Type: String, Doc: "SHA-256 of the canonical definition, hex"},
	}},
	{Name: "listing", Doc: "a registry entry; the key is name@version", Fields: []Field{
		{Name: "name", Type: String, Doc: "registry name"},
		{Name: "version", Type: String, Doc: "version as listed"},
		{Name: "status", Type: String, Doc: "active, deprecated or deleted"},
	}},
	{Name: "namespace", Shared: true, Doc: "a reverse-DNS publisher", Fields: []Field{
		{Name: "name", Type: String, From: "key", Doc: "such as com.example"},
	}},
	{Name: "source", Doc: "a registry or another place that names servers", Fields: []Field{
		{Name: "type", Type: String, Doc: "such as registry"},
		{Name: "ref", Type: String, Doc: "where it is"},
		{Name: "complete", Type: Bool, Doc: "whether the last listing applied was a whole one"},
	}},
	{Name: "host", Shared: true, Doc: "a host name, or the registrable domain above it", Fields: []Field{
		{Name: "name", Type: String, From: "key", Doc: "lower case, punycode"},
	}},
	{Name: "issuer", Shared: true, Doc: "an authorization server", Fields: []Field{
		{Name: "url", Type: String, From: "key", Doc: "as the server's metadata lists it"},
	}},
	{Name: "repository", Shared: true, Doc: "a source repository", Fields: []Field{
		{Name: "url", Type: String, From: "key", Doc: "canonical URL"},
	}},
	{Name: "package", Shared: true, Doc: "a package that a listing names", Fields: []Field{
		{Name: "name", Type: String, From: "key", Doc: "as listed"},
	}},
	{Name: "check", Shared: true, Doc: "a check that failed or warned somewhere", Fields: []Field{
		{Name: "id", Type: String, From: "key", Doc: "such as net.tls"},
		{Name: "phase", Type: String, From: "phase", Doc: "first part of the id"},
	}},
	{Name: "attestation", Doc: "the current statement of a server", Fields: []Field{
		{Name: "digest", Type: String, From: "key", Doc: "SHA-256 of the statement, hex"},
		{Name: "finished_at", Type: Timestamp, Doc: "end of the check"},
		{Name: "rubric", Type: String, Doc: "id of the rubric"},
		{Name: "catalogue", Type: String, Doc: "SHA-256 of the server's catalogue, hex; absent when it could not be read"},
	}},
}

var edges = []Edge{
	{Name: "exposes", From: "server", To: "tool", Inherits: true, Doc: "lists it"},
	{Name: "authorized_by", From: "server", To: "issuer", Inherits: true, Doc: "takes tokens of it"},
	{Name: "hosted_on", From: "server", To: "host", Inherits: true, Doc: "answers there"},
	{Name: "hosted_on", From: "host", To: "host", Inherits: true, Doc: "is under this registrable domain"},
	{Name: "listed_as", From: "server", To: "listing", Passage: true, Doc: "a registry names it"},
	{Name: "published_by", From: "listing", To: "namespace", Inherits: true, Doc: "is in it"},
	{Name: "built_from", From: "listing", To: "repository", Inherits: true, Doc: "says it is made from it"},
	{Name: "built_from", From: "listing", To: "package", Inherits: true, Doc: "says it is published as it"},
	{Name: "discovered_by", From: "server", To: "source", Doc: "was named by it"},
	{Name: "attested_by", From: "server", To: "attestation", Doc: "was checked"},
	{Name: "fails", From: "server", To: "check", Finding: true, Doc: "a finding of this severity"},
	{Name: "fails", From: "tool", To: "check", Finding: true, Doc: "a finding of this severity"},
	{Name: "fails", From: "issuer", To: "check", Finding: true, Doc: "a finding of this severity"},
	{Name: "warns", From: "server", To: "check", Finding: true, Doc: "a deviation"},
	{Name: "warns", From: "tool", To: "check", Finding: true, Doc: "a deviation"},
	{Name: "warns", From: "issuer", To: "check", Finding: true, Doc: "a deviation"},
	{Name: "same_definition", From: "tool", To: "tool", Via: "definition", Doc: "a tool of another server is defined by the same bytes"},
}

// finding is what an edge to a check carries. It is no kind: paths don't name
// it, conditions do.
var finding = Kind{Name: "finding", Doc: "what an edge to a check carries", Fields: []Field{
	{Name: "status", Type: String, Doc: "fail or warn"},
	{Name: "severity", Type: String, Doc: "critical, major or minor; absent on a warn"},
}}

// Kinds returns the kinds of nodes, for reference pages.
func Kinds() []Kind { return slices.Clone(kinds) }

// Edges returns the edges, for reference pages.
func Edges() []Edge { return slices.Clone(edges) }

func kindOf(name string) (Kind, bool) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return kinds[i], true
}

func (k Kind) field(name string) (Field, bool) {
	i := slices.IndexFunc(k.Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return k.Fields[i], true
}

func (k Kind) fieldNames() []string {
	var out []string
	for _, f := range k.Fields {
		out = append(out, f.Name)
	}
	return out
}

// fromKey computes a field that the key holds.
func (f Field) fromKey(key string) string {
	switch f.From {
	case "name":
		_, key, _ = strings.Cut(key, "/")
	case "phase":
		key, _, _ = strings.Cut(key, ".")
	}
	return key
}

// suggest words the nearest of the words as a question, or lists them all when
// none is near.
func suggest(word string, words []string) string {
	if best := near.Word(word, words); best != "" {
		return "did you mean \"" + best + "\"?"
	}
	return "there are " + strings.Join(words, ", ")
}
