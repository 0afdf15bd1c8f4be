package dataset

import (
	"context"
	"os"
	"slices"

	"github.com/lustrum-mcp/lustrum/attest/verify"
)

// Release is the kind of an Item about the whole folder: its pages, records,
// statements and editions against the signed list of files.
const Release = "release"

// data are the folders that the editions themselves answer for. What stands
// beside them is the site, which nothing but the release's list protects.
var data = []string{editionsDir, "statements", "keys"}

// release proves the folder as a whole, when it holds more than data.
func (r *Reproduction) release(ctx context.Context, folder string, o verify.Options) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !slices.Contains(data, e.Name()) }) {
		return nil
	}
	v, err := verify.Release(ctx, folder, o)
	if err != nil {
		return err
	}
	for _, c := range v.Criteria {
		r.Items = append(r.Items, Item{Kind: Release, Name: c.Name, Outcome: sameness(c.Outcome), Detail: c.Detail})
	}
	return nil
}

// sameness is a criterion's outcome in the words of a reproduction.
func sameness(o verify.Outcome) Sameness {
	switch o {
	case verify.Pass:
		return Same
	case verify.Fail:
		return Different
	}
	return NotAsked
}
