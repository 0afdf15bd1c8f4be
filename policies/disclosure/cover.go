package disclosure

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"slices"
)

// A stranger holds one edition against the next. What went out of sight or came
// back into it must then be innocent as often as not, and so must what stays
// out of sight. So the cover has two parts. The base is a tenth of all servers
// whatever their health: it does not move when a server's health does. And
// every held server has a partner, which goes and comes with it.
//
// Partners are found by linear probing on a ring of the healthy servers of the
// same kind: each held server stands at a secret point and takes the next one
// that is free. The set that linear probing fills does not depend on the order,
// and one held server more or less changes it by one.

// lot is a server's secret place in a draw.
type lot struct {
	id    string
	point []byte
}

// lots draws for records, and sorts them by their points.
func lots(records []Record, seed []byte, draw string) []lot {
	out := make([]lot, len(records))
	for i, r := range records {
		mac := hmac.New(sha256.New, seed)
		mac.Write([]byte(draw + "\x00" + r.ID))
		out[i] = lot{r.ID, mac.Sum(nil)}
	}
	slices.SortFunc(out, func(a, b lot) int { return bytes.Compare(a.point, b.point) })
	return out
}

// draw picks the cover out of the healthy records. matched is false when some
// held server has no partner of its own kind.
func draw(held, healthy []Record, seed []byte) (cover map[string]bool, matched bool) {
	all := lots(slices.Concat(held, healthy), seed, "base")
	base := map[string]bool{}
	for _, l := range all[:(len(all)+9)/10] {
		base[l.id] = true
	}
	cover = map[string]bool{}
	rings := map[string][]Record{}
	var free []Record
	for _, r := range healthy {
		if base[r.ID] {
			cover[r.ID] = true
			continue
		}
		rings[bucket(r)] = append(rings[bucket(r)], r)
		free = append(free, r)
	}
	kinds := map[string][]Record{}
	for _, r := range held {
		kinds[bucket(r)] = append(kinds[bucket(r)], r)
	}
	var alone []lot
	for kind, records := range kinds {
		alone = append(alone, probe(lots(records, seed, "partner"), lots(rings[kind], seed, "ring"), cover)...)
	}
	// One of another kind is a worse partner, but better than none.
	free = slices.DeleteFunc(free, func(r Record) bool { return cover[r.ID] })
	slices.SortFunc(alone, func(a, b lot) int { return bytes.Compare(a.point, b.point) })
	probe(alone, lots(free, seed, "ring"), cover)
	return cover, len(alone) == 0
}

// probe gives each of held the next free lot of the ring, puts it into cover,
// and returns those for whom the ring had none.
func probe(held, ring []lot, cover map[string]bool) (alone []lot) {
	next := make([]int, len(ring)+1) // next[i]: the first that may be free from i on
	for i := range next {
		next[i] = i
	}
	from := func(i int) int {
		for next[i] != i {
			next[i] = next[next[i]]
			i = next[i]
		}
		return i
	}
	for _, h := range held {
		i, _ := slices.BinarySearchFunc(ring, h, func(a, b lot) int { return bytes.Compare(a.point, b.point) })
		if i = from(i); i == len(ring) {
			i = from(0)
		}
		if i == len(ring) {
			alone = append(alone, h)
			continue
		}
		next[i] = i + 1
		cover[ring[i].id] = true
	}
	return alone
}

// bucket is what a stranger can tell about a server by asking it.
func bucket(r Record) string {
	p := &r.Statement.Predicate
	return p.Auth.State + "\x00" + p.Target.Transport
}
