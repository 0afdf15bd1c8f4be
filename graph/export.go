package graph

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cayleygraph/quad"
)

// Export writes everything the graph holds as N-Quads
// (https://www.w3.org/TR/n-quads/): one fact a line, sorted by bytes, so that
// equal graphs are equal bytes. The digests of the statements that were ever
// applied are part of it, superseded ones included (<applied:DIGEST>
// <meta:of>). Strings are escaped as in the canonical form of N-Quads; graph
// names are the evidence of each fact. The lines are sorted in memory: about
// 250 bytes a fact.
func (g *Graph) Export(ctx context.Context, w io.Writer) error {
	var lines []string
	err := g.view(ctx, func(r *reader) (err error) {
		lines, err = r.lines(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("export the graph: %w", err)
	}
	slices.Sort(lines)
	b := bufio.NewWriter(w)
	for _, line := range lines {
		if _, err := b.WriteString(line); err != nil {
			return fmt.Errorf("export the graph: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("export the graph: %w", err)
	}
	return nil
}

func (r *reader) lines(ctx context.Context) ([]string, error) {
	links, err := r.all(ctx)
	if err != nil {
		return nil, err
	}
	lines := make([]string, 0, len(links))
	for chunk := range slices.Chunk(links, 10_000) {
		quads, err := r.quads(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, q := range quads {
			lines = append(lines, line(q))
		}
	}
	return lines, nil
}

func line(q quad.Quad) string {
	return term(q.Subject) + " " + term(q.Predicate) + " " + term(q.Object) + " " + term(q.Label) + " .\n"
}

// Datatypes of https://www.w3.org/TR/xmlschema11-2/.
const (
	xsdBoolean = "http://www.w3.org/2001/XMLSchema#boolean"
	xsdDouble  = "http://www.w3.org/2001/XMLSchema#double"
)

func term(v quad.Value) string {
	switch v := v.(type) {
	case quad.IRI:
		return "<" + string(v) + ">"
	case quad.String:
		return literal(string(v))
	case quad.Bool:
		return literal(strconv.FormatBool(bool(v))) + "^^<" + xsdBoolean + ">"
	case quad.Float:
		return literal(strconv.FormatFloat(float64(v), 'E', -1, 64)) + "^^<" + xsdDouble + ">"
	}
	return literal(quad.StringOf(v)) // nothing else is ever written
}

// literal escapes as https://www.w3.org/TR/rdf12-n-quads/#canonical-quads says.
func literal(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		default:
			if r < 0x20 || r == 0x7f {
				fmt.Fprintf(&b, `\u%04X`, r)
				continue
			}
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
