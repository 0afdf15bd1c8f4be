package disclosure

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lustrum-mcp/lustrum/attest"
)

// Audiences of an edition.
const (
	Owner  = "owner"  // whoever runs the census: nothing is held back
	Public = "public" // everybody
)

// MinSeed is the least length of the secret seed, in bytes.
const MinSeed = 16

// Record is one server of an edition.
type Record struct {
	ID        string // endpoint id
	Operator  string // optional
	Statement *attest.Statement
}

// Decision is what becomes of the records. Only Public and NotInEdition may be
// told; everything else is for the private queue, and a log is not private.
type Decision struct {
	Public       []string            // ids that may be published, sorted
	NotInEdition int                 // all others in one number
	Held         map[string][]string // private: id to the rules that hold it, sorted
	Cover        []string            // private: healthy ids that are left out with them, sorted
	Warnings     []string            // for the operator; they name and count nothing
}

// Decide applies the built-in rules.
func Decide(records []Record, seed []byte, audience string) (*Decision, error) {
	rules, err := Load("")
	if err != nil {
		return nil, err
	}
	return DecideBy(rules, records, seed, audience)
}

// DecideBy says which records may be published. For the public it leaves out
// what a rule holds back, and a cover of healthy servers: a tenth of all
// servers, and a partner for each held one, of the same authentication and
// transport as long as there are any. The cover is drawn by HMAC-SHA-256 under
// the secret seed, whatever the order of the records. From edition to edition
// the tenth stays and a partner moves with the server that it stands for, so
// that of what appears or disappears about half is innocent. A server that
// leaves the registry, or changes its authentication, moves cover as well.
func DecideBy(rules []*Rule, records []Record, seed []byte, audience string) (*Decision, error) {
	d := &Decision{Held: map[string][]string{}}
	seen := map[string]bool{}
	for i, r := range records {
		if r.ID == "" || r.Statement == nil || seen[r.ID] {
			return nil, fmt.Errorf("disclosure: record %d of %d has no id or no statement, or is there twice", i+1, len(records))
		}
		seen[r.ID] = true
	}
	if audience == Owner {
		d.Public = slices.Sorted(maps.Keys(seen))
		return d, nil
	}
	if audience != Public {
		return nil, fmt.Errorf("disclosure: audience %q is neither %s nor %s", audience, Owner, Public)
	}
	if len(seed) < MinSeed {
		return nil, fmt.Errorf("disclosure: the secret seed is %d bytes long; it needs %d or more", len(seed), MinSeed)
	}
	var held, healthy []Record
	for _, r := range records {
		ids, err := heldBy(rules, r)
		if err != nil {
			return nil, err
		}
		if len(ids) > 0 {
			d.Held[r.ID] = ids
			held = append(held, r)
			continue
		}
		healthy = append(healthy, r)
	}
	cover, matched := draw(held, healthy, seed)
	for _, r := range healthy {
		if cover[r.ID] {
			d.Cover = append(d.Cover, r.ID)
		} else {
			d.Public = append(d.Public, r.ID)
		}
	}
	slices.Sort(d.Public)
	slices.Sort(d.Cover)
	d.NotInEdition = len(records) - len(d.Public)
	if 4*len(held) > len(records) {
		d.Warnings = append(d.Warnings, "disclosure would hold back more than a quarter of the servers: narrow the rules rather than hide the census")
	}
	if !matched {
		d.Warnings = append(d.Warnings, "disclosure finds too few healthy servers like those it holds back: a gap in this edition tells more than it should, publish a larger slice")
	}
	return d, nil
}

func heldBy(rules []*Rule, r Record) ([]string, error) {
	server := view(r.Statement)
	var out []string
	for _, rule := range rules {
		held, err := rule.holds(server)
		if err != nil {
			return nil, err // names the rule and no server
		}
		if held {
			out = append(out, rule.ID)
		}
	}
	slices.Sort(out)
	return out, nil
}
