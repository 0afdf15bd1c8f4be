package disclosure

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// world is a census as its operator sees it, edition after edition.
type world struct {
	dice *rand.Rand
	kind map[int]string // of those that are listed
	bad  map[int]bool
	next int

	still bool // the same servers every month
}

var worldKinds = []string{"open", "open", "open", "oauth", "protected"}

func (w *world) join() {
	w.kind[w.next] = worldKinds[w.dice.IntN(len(worldKinds))]
	w.bad[w.next] = w.dice.IntN(100) < 5
	w.next++
}

// month lets servers leave, join, change, fall ill and recover.
func (w *world) month() {
	for n := range w.next {
		if w.kind[n] == "" {
			continue
		}
		switch d := w.dice.IntN(100); {
		case w.still:
		case d < 2:
			delete(w.kind, n)
			w.join()
		case d < 3:
			w.kind[n] = worldKinds[w.dice.IntN(len(worldKinds))]
		}
		if w.bad[n] {
			w.bad[n] = w.dice.IntN(100) >= 30
		} else {
			w.bad[n] = w.dice.IntN(100) < 2
		}
	}
}

func (w *world) records() []Record {
	var rs []Record
	for n := range w.next {
		if w.kind[n] == "" {
			continue
		}
		r := record(n, state(w.kind[n], "streamable-http"))
		if w.bad[n] {
			poisoned(&r.Statement.Predicate)
		}
		rs = append(rs, r)
	}
	return rs
}

// edition is what a stranger has of one: the registry's listing and what was
// published. held is the truth to measure guesses with.
type edition struct {
	listed, public, held map[string]bool
}

func (e edition) gap(id string) bool { return e.listed[id] && !e.public[id] }

func history(t testing.TB, n uint64, editions int) []edition {
	dice := rand.New(rand.NewPCG(n, 7))
	w := &world{dice: dice, kind: map[int]string{}, bad: map[int]bool{}, still: n%2 == 0}
	for range 20 + dice.IntN(200) {
		w.join()
	}
	secret := sha256.Sum256(binary.BigEndian.AppendUint64(nil, n))
	var out []edition
	for range editions {
		rs := w.records()
		e := edition{map[string]bool{}, map[string]bool{}, map[string]bool{}}
		for _, r := range rs {
			e.listed[r.ID] = true
		}
		d := decide(t, rs, secret[:], Public)
		for _, id := range d.Public {
			e.public[id] = true
		}
		for id := range d.Held {
			e.held[id] = true
		}
		out = append(out, e)
		w.month()
	}
	return out
}

// TestStrangerWithAllEditions plays an attacker who has the listing and every
// edition of 300 censuses, five each, half of them of servers that never
// change but in health, and guesses in several ways which servers
// are held back. No way is right more often than not.
func TestStrangerWithAllEditions(t *testing.T) {
	type score struct{ right, guesses int }
	ways := map[string]*score{}
	guess := func(way string, right bool) {
		if ways[way] == nil {
			ways[way] = &score{}
		}
		ways[way].guesses++
		if right {
			ways[way].right++
		}
	}
	for n := range uint64(300) {
		es := history(t, n, 5)
		for i, e := range es {
			for id := range e.listed {
				if e.gap(id) {
					guess("every gap", e.held[id])
				}
				if i == 0 {
					continue
				}
				b := es[i-1]
				if b.public[id] && e.gap(id) {
					guess("went out of sight", e.held[id])
				}
				if b.gap(id) && e.public[id] {
					guess("came back into sight", b.held[id])
				}
				if !b.listed[id] && e.gap(id) {
					guess("new and out of sight", e.held[id])
				}
				if i > 1 && es[i-2].public[id] && b.gap(id) && e.public[id] {
					guess("out of sight once", b.held[id])
				}
			}
		}
		last := es[len(es)-1]
		for id := range last.listed {
			gaps, ever := 0, false
			for _, e := range es {
				ever = ever || e.held[id]
				if e.gap(id) {
					gaps++
				}
			}
			switch {
			case gaps == len(es):
				guess("always out of sight", ever)
			case gaps > 0:
				guess("sometimes out of sight", ever)
			}
		}
	}
	for way, s := range ways {
		t.Logf("%s: %d of %d right, %.2f", way, s.right, s.guesses, float64(s.right)/float64(s.guesses))
		if 2*s.right > s.guesses {
			t.Errorf("%s: more than half are right", way)
		}
	}
	if len(ways) != 7 || ways["out of sight once"].guesses < 400 {
		t.Errorf("the attacker has not tried everything: %v", ways)
	}
}

// TestCoverMovesWithTheHeld: while nothing else changes, one held server more
// is one partner more, and the rest of the cover stays.
func TestCoverMovesWithTheHeld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var rs []Record
		for n := range rapid.IntRange(40, 90).Draw(rt, "servers") {
			r := record(n)
			if rapid.IntRange(0, 9).Draw(rt, "bad") == 0 {
				poisoned(&r.Statement.Predicate)
			}
			rs = append(rs, r)
		}
		before := decide(t, rs, seed, Public)
		if len(before.Public) == 0 {
			rt.Skip("all are held")
		}
		one := rapid.SampledFrom(before.Public).Draw(rt, "falls ill")
		for i := range rs {
			if rs[i].ID == one {
				again := *rs[i].Statement
				poisoned(&again.Predicate)
				rs[i].Statement = &again
			}
		}
		after := decide(t, rapid.Permutation(rs).Draw(rt, "order"), seed, Public)
		gone := slices.DeleteFunc(slices.Clone(before.Public), func(id string) bool { return slices.Contains(after.Public, id) })
		back := slices.DeleteFunc(slices.Clone(after.Public), func(id string) bool { return slices.Contains(before.Public, id) })
		if want := min(2, len(before.Public)); len(gone) != want || !slices.Contains(gone, one) || len(back) != 0 {
			rt.Errorf("%s fell ill: %v went out of sight, %v came back", one, gone, back)
		}
	})
}
