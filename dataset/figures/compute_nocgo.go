//go:build !cgo

package figures

import "context"

// Available says whether this build can compute figures.
const Available = false

func compute(context.Context, string, string, []Definition) (*Set, error) {
	return nil, ErrNoDuckDB
}
