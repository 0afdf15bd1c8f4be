package wire

import (
	"fmt"
	"net/netip"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// publicAddress returns an error when an address is one that only a named host
// may lead to.
func publicAddress(a netip.Addr) error {
	if why := target.NotPublic(a); why != "" {
		return fmt.Errorf("%s: %w", why, ErrBlocked)
	}
	return nil
}
