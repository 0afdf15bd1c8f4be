package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/engine/check"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
	"github.com/lustrum-mcp/lustrum/engine/text"
)

// SchemaID is the value of the member schema of every document, and the $id of
// the JSON Schema.
const SchemaID = "https://lustrum-mcp.github.io/schema/report/v1"

//go:embed report.schema.json
var schema []byte

// Schema is the JSON Schema (2020-12) of the document that JSON writes.
func Schema() []byte { return bytes.Clone(schema) }

type document struct {
	Schema          string          `json:"schema"`
	Endpoint        endpointDoc     `json:"endpoint"`
	Instrument      instrumentDoc   `json:"instrument"`
	StartedAt       string          `json:"started_at"`
	FinishedAt      string          `json:"finished_at"`
	Phases          []string        `json:"phases"`
	Auth            string          `json:"auth"`
	Issuers         []string        `json:"issuers"`
	Server          serverDoc       `json:"server"`
	Score           *rubric.Score   `json:"score"`
	Counts          countsDoc       `json:"counts"`
	CatalogueDigest string          `json:"catalogue_digest,omitempty"`
	Tools           []toolDoc       `json:"tools"`
	Findings        []check.Finding `json:"findings"`
	Blocked         *blockedDoc     `json:"blocked,omitempty"`
	RefusedHosts    []string        `json:"refused_hosts"`
}

type endpointDoc struct {
	ID        string `json:"id"`
	Transport string `json:"transport"`
	URL       string `json:"url"`
}

type instrumentDoc struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`
	Catalogue string `json:"catalogue"`
	Rubric    string `json:"rubric"`
	Method    string `json:"method,omitempty"`
}

type serverDoc struct {
	Name             string   `json:"name"`
	Version          string   `json:"version"`
	ProtocolVersions []string `json:"protocol_versions"`
	Era              string   `json:"era"`
}

type countsDoc struct {
	Findings  int `json:"findings"`
	Pass      int `json:"pass"`
	Warn      int `json:"warn"`
	Fail      int `json:"fail"`
	Skip      int `json:"skip"`
	Info      int `json:"info"`
	Tools     int `json:"tools"`
	Resources int `json:"resources"`
	Prompts   int `json:"prompts"`
	Requests  int `json:"requests"`
}

type toolDoc struct {
	Name              string         `json:"name"`
	DefinitionDigest  string         `json:"definition_digest"`
	DescriptionDigest string         `json:"description_digest,omitempty"`
	Annotations       annotationsDoc `json:"annotations"`
}

type annotationsDoc struct {
	ReadOnly    *bool `json:"read_only"`
	Destructive *bool `json:"destructive"`
	Idempotent  *bool `json:"idempotent"`
	OpenWorld   *bool `json:"open_world"`
}

type blockedDoc struct {
	Phase  string `json:"phase"`
	Reason string `json:"reason"`
}

// JSON writes a report as one JSON document, as Schema describes it, indented,
// with a line feed at the end. Characters that control a terminal or show
// nothing stand as \u escapes.
func JSON(w io.Writer, rep *check.Report) error {
	n := rep.Counts()
	doc := document{
		Schema:   SchemaID,
		Endpoint: endpointDoc{rep.Endpoint.ID(), rep.Endpoint.Transport, rep.Endpoint.URL},
		Instrument: instrumentDoc{rep.Instrument.Name, rep.Instrument.Version, rep.Instrument.Commit,
			rep.Instrument.Catalogue, rep.Instrument.Rubric, rep.Instrument.Method},
		StartedAt: stamp(rep.StartedAt), FinishedAt: stamp(rep.FinishedAt),
		Phases: list(rep.Phases), Auth: rep.Auth, Issuers: list(rep.Issuers),
		Server: serverDoc{rep.Server.Name, rep.Server.Version, list(rep.Server.ProtocolVersions), rep.Server.Era},
		Score:  rep.Score,
		Counts: countsDoc{len(rep.Findings), n[rubric.Pass], n[rubric.Warn], n[rubric.Fail], n[rubric.Skip], n[rubric.Info],
			len(rep.Tools), rep.Resources, rep.Prompts, len(rep.Exchanges)},
		CatalogueDigest: rep.Catalogue, Tools: []toolDoc{}, Findings: list(rep.Findings), RefusedHosts: list(rep.Hosts),
	}
	for _, t := range rep.Tools {
		doc.Tools = append(doc.Tools, toolDoc{t.Name, t.DefinitionDigest, t.DescriptionDigest,
			annotationsDoc{t.Annotations.ReadOnly, t.Annotations.Destructive, t.Annotations.Idempotent, t.Annotations.OpenWorld}})
	}
	if b := rep.Blocked; b != nil {
		doc.Blocked = &blockedDoc{b.Phase, b.Reason}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write the report of %q: %w", rep.Endpoint.URL, err)
	}
	_, err := w.Write(harmless(b.Bytes()))
	return err
}

// list keeps an empty list a list.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// stamp is RFC 3339 in UTC with milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// harmless writes what controls a terminal or shows nothing as \u escapes.
// Outside of strings JSON is plain ASCII, so this touches strings only.
func harmless(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r < utf8.RuneSelf && r != 0x7F, r >= utf8.RuneSelf && unicode.IsPrint(r) && !text.Invisible(r):
			out = append(out, data[i:i+size]...)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out
}
