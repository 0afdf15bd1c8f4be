package site

import (
	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/dataset"
)

// editionLink is one edition of the folder; paths are from the root.
type editionLink struct {
	ID, Path, Bundle, Sums string
	Current                bool
}

type editionsView struct{ Editions []editionLink }

// editions lists every edition of the folder in the order given.
func (s *site) editions() []editionLink {
	var all []editionLink
	for _, id := range s.in.Editions {
		folder := editionsDir + id + "/"
		all = append(all, editionLink{
			ID: id, Path: folder + attest.EditionFile, Bundle: folder + attest.EditionFile + attest.BundleSuffix,
			Sums: folder + dataset.SumsFile, Current: id == s.in.Edition.ID,
		})
	}
	return all
}

func (s *site) writeEditions() error {
	return s.render("editions.html", "editions.html", "Editions", editionsView{Editions: s.editions()})
}
