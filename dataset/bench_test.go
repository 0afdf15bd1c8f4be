package dataset

import (
	"fmt"
	"os"
	"testing"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// BenchmarkEdition writes an edition of 26,000 endpoints, each with 35
// verdicts and 12 tools, and computes its figures.
func BenchmarkEdition(b *testing.B) {
	const n = 26_000
	e := &Edition{ID: "2026-01-11", Registry: "https://registry.example.com", Audience: "public", Method: "1"}
	for i := range n {
		e.Records = append(e.Records, record(b, fmt.Sprintf("https://mcp%d.example.com/mcp", i), func(p *attest.Predicate) {
			answering(p)
			for j := range 32 {
				p.Verdicts = append(p.Verdicts, verdict(fmt.Sprintf("catalog.check%d", j), "catalog", rubric.Pass, ""))
			}
			for j := range 10 {
				name := fmt.Sprintf("tool-%d-%d", i, j)
				p.Catalogue.Tools = append(p.Catalogue.Tools, attest.Tool{Name: name, Definition: digestOf(name), Description: digestOf("d" + name)})
			}
		}))
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			dir := b.TempDir()
			must(b, Write(dir, e))
			size(b, dir)
		}
	})
	b.Run("figures", func(b *testing.B) {
		if !figures.Available {
			b.Skip(figures.ErrNoDuckDB)
		}
		dir := b.TempDir()
		must(b, Write(dir, e))
		for b.Loop() {
			_, err := figures.Compute(b.Context(), dir, e.ID)
			must(b, err)
		}
	})
}

func size(b *testing.B, dir string) {
	for _, t := range Tables() {
		info, err := os.Stat(dir + "/" + t.Name + Ext)
		must(b, err)
		b.ReportMetric(float64(info.Size())/1e6, t.Name+"-MB")
	}
}
