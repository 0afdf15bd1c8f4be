package site

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/dataset"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
	"github.com/lustrum-mcp/lustrum/engine/check"
	"github.com/lustrum-mcp/lustrum/graph"
)

// Audience of an edition that is not for publication.
const audienceOwner = "owner"

// Input is all that a site is made from. Build changes none of it.
type Input struct {
	Edition     *dataset.Edition        // required
	Figures     *figures.Set            // nil when they were not computed
	FiguresNote string                  // why there are none
	Risks       map[string][]graph.Risk // what a server has and inherits, by endpoint id
	Violations  []Violation
	Editions    []string // ids of all editions in the folder, newest first

	// KeyID names the key that signed the statements. Its public half stands
	// at keys/lustrum.pub; Build writes it there when PublicKeyPEM is given.
	KeyID        string
	PublicKeyPEM []byte
	Version      string // of the program that builds the site

	// Lookup finds the title, advice and reference of a check;
	// check.Lookup when nil.
	Lookup func(id string) (Check, bool)
}

// Check is what the catalogue says about a check.
type Check = check.Meta

// Violation is one violated policy at one server.
type Violation struct {
	Policy, Title string
	Severity      string // critical, major or minor
	Reason        string
	Remedy        string
	Path          string // the steps, in words
	EndpointID    string
}

var (
	editionID  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	endpointID = regexp.MustCompile(`^[a-z2-7]{26}$`)
	figureName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
)

// validate refuses what would become a wrong file name or a dead link.
func (in *Input) validate() error {
	e := in.Edition
	if e == nil {
		return errors.New("there is no edition")
	}
	for _, id := range append([]string{e.ID}, in.Editions...) {
		if !editionID.MatchString(id) {
			return fmt.Errorf("edition id %q is not a date (YYYY-MM-DD)", id)
		}
	}
	if e.NotInEdition < 0 {
		return fmt.Errorf("edition %q: %d endpoints are not in it", e.ID, e.NotInEdition)
	}
	if in.Figures != nil {
		if in.Figures.Edition != e.ID {
			return fmt.Errorf("the figures are of edition %q, the records of %q", in.Figures.Edition, e.ID)
		}
		for _, f := range in.Figures.Figures {
			if !figureName.MatchString(f.Name) {
				return fmt.Errorf("figure %q: the name is not made of a-z, 0-9 and hyphens", f.Name)
			}
		}
	}
	seen := make(map[string]bool, len(e.Records))
	for _, r := range e.Records {
		switch {
		case !endpointID.MatchString(r.ID):
			return fmt.Errorf("record %q: the endpoint id is not 26 characters of base32", r.ID)
		case seen[r.ID]:
			return fmt.Errorf("record %q stands twice in edition %q", r.ID, e.ID)
		case attest.StatementPath(r.Digest) == "":
			return fmt.Errorf("record %q: digest %q is not a SHA-256 in hex", r.ID, r.Digest)
		case r.Statement == nil:
			return fmt.Errorf("record %q has no statement", r.ID)
		}
		seen[r.ID] = true
	}
	return nil
}
