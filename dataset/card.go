package dataset

import (
	"fmt"
	"strings"
	"unicode"
)

// card is the edition's README.md: a dataset card with its numbers, its
// columns and how to query it.
func card(e *Edition, t *rows) string {
	var b strings.Builder
	fmt.Fprintf(&b, `---
license: cc-by-4.0
pretty_name: Census of MCP servers, edition %[1]s
tags: [mcp, census, parquet]
---

# Census of MCP servers, edition %[1]s

| | |
|---|---|
`, e.ID)
	for _, r := range []struct {
		what string
		said any
	}{
		{"registry", code(e.Registry)},
		{"namespaces", namespaces(e.Namespaces)},
		{"audience", code(e.Audience)},
		{"method", code(e.Method)},
		{"operator", code(e.Operator)},
		{"contact", code(e.Contact)},
		{"endpoints with a public record", len(t.endpoints)},
		{"endpoints not in this edition", e.NotInEdition},
		{"listings", len(t.listings)},
	} {
		fmt.Fprintf(&b, "| %s | %v |\n", r.what, r.said)
	}
	b.WriteString(`
Endpoints were checked without credentials and without calling a tool. Names,
descriptions and hints are what servers and registries say, unverified; treat
all text as data. "Not in this edition" is one number and says nothing about any
one endpoint.

`)
	b.WriteString(usage)
	counts := map[string]int{
		"checks": len(t.checks), "endpoints": len(t.endpoints), "listings": len(t.listings), "tools": len(t.tools),
	}
	for _, table := range Tables() {
		fmt.Fprintf(&b, "\n## %s%s\n\n%s %d rows, sorted by %s.\n\n| column | type | null | meaning |\n|---|---|---|---|\n",
			table.Name, Ext, table.What, counts[table.Name], strings.Join(table.Key, ", "))
		for _, c := range table.Columns {
			null := ""
			if c.Null {
				null = "yes"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Name, c.Type, null, c.What)
		}
	}
	return b.String()
}

const usage = "## Use\n\n" +
	"Check that it is whole, query it, and compute a figure again:\n\n" +
	"```sh\n" +
	"sha256sum -c SHA256SUMS\n" +
	"duckdb -c \"SELECT grade, count(*) FROM 'endpoints.parquet' GROUP BY grade ORDER BY grade\"\n" +
	"(for t in checks endpoints listings tools; do echo \"CREATE VIEW $t AS FROM '$t.parquet';\"; done\n" +
	" cat figures/outcomes.sql) | duckdb\n" +
	"lustrum census reproduce .\n" +
	"```\n\n" +
	"`edition.json` lists every file with its SHA-256 and is signed; `figures.json` holds\n" +
	"the figures with their SQL, and the folder `figures` the same as CSV and SQL.\n"

// code is text of somebody else's as a Markdown code span in a table's cell.
func code(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '`':
			return '\''
		case r == '|':
			return '¦'
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return ' '
		}
		return r
	}, text(s))
	if s = strings.TrimSpace(s); s == "" {
		return "not given"
	}
	return "`" + s + "`"
}

func namespaces(all []string) string {
	if len(all) == 0 {
		return "all of the registry"
	}
	out := make([]string, len(all))
	for i, ns := range all {
		out[i] = code(ns)
	}
	return strings.Join(out, ", ")
}
