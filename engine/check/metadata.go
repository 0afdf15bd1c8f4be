package check

import (
	"context"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
)

// judgeMetadata follows a refusal to the metadata that it leads to.
func (r *run) judgeMetadata(ctx context.Context, a *mcp.Answer) {
	r.skipMissing("not looked at", []string{PhaseDiscovery})
}
