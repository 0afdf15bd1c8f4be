package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxNotes bounds Slice.Notes.
const maxNotes = 200

// choose takes one entry of each name, over the whole walk, and selects its
// remotes.
func (w *walk) choose() {
	slices.SortStableFunc(w.entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), CompareVersions(a.Version, b.Version))
	})
	for versions := range chunk(w.entries) {
		chosen := w.latest(versions)
		for i, e := range versions {
			if i != chosen {
				w.skip(LeftOut{Name: e.Name, Version: e.Version, Reason: passedOver(e.Status), Page: e.Page, Index: e.index})
			}
		}
		if chosen >= 0 {
			w.slice.Entries = append(w.slice.Entries, versions[chosen])
			w.slice.Names = append(w.slice.Names, versions[chosen].Name)
		}
	}
	w.selectRemotes()
	w.noteCase()
	if n := len(w.slice.Notes); n > maxNotes {
		w.slice.Notes = append(w.slice.Notes[:maxNotes], fmt.Sprintf("and %d more notes", n-maxNotes))
	}
}

// chunk yields the runs of entries with one name.
func chunk(entries []Entry) func(yield func([]Entry) bool) {
	return func(yield func([]Entry) bool) {
		for start := 0; start < len(entries); {
			end := start + 1
			for end < len(entries) && entries[end].Name == entries[start].Name {
				end++
			}
			if !yield(entries[start:end]) {
				return
			}
			start = end
		}
	}
}

// latest picks from the versions of one name, lowest first: the active one
// that the registry calls latest, else the highest active one; -1 when none is
// active. What is out of order is noted.
func (w *walk) latest(versions []Entry) int {
	chosen, flagged := -1, 0
	var inactive *Entry
	said := false
	for i := range versions {
		e := &versions[i]
		said = said || e.flagged
		if e.IsLatest && e.Status != StatusActive {
			inactive = e
		}
		if e.Status != StatusActive {
			continue
		}
		if e.IsLatest {
			flagged++
			chosen = i
		} else if flagged == 0 {
			chosen = i
		}
	}
	switch {
	case chosen < 0:
	case flagged > 1:
		w.note("%s: %d active versions are marked latest; %q, the highest of them, was taken", versions[0].Name, flagged, versions[chosen].Version)
	case flagged == 0 && inactive != nil:
		w.note("%s: no active version is marked latest (%q is, and its status is %q); %q, the highest active one, was taken",
			versions[0].Name, inactive.Version, inactive.Status, versions[chosen].Version)
	case flagged == 0 && said:
		w.note("%s: no version is marked latest; %q, the highest active one, was taken", versions[0].Name, versions[chosen].Version)
	}
	return chosen
}

func passedOver(status string) Reason {
	switch status {
	case StatusActive:
		return OlderVersion
	case StatusDeleted:
		return Deleted
	case StatusDeprecated:
		return Deprecated
	}
	return NotActive
}

// noteCase names what differs in case only: a registry compares names with
// case, while the accounts behind them often don't.
func (w *walk) noteCase() {
	for _, ns := range slices.Sorted(maps.Keys(w.inCase)) {
		w.note("%d entries under %s are left out: it differs in case only from a namespace that was given; give it too if it is meant", w.inCase[ns], ns)
	}
	spellings := map[string][]string{}
	for _, name := range w.slice.Names {
		lower := strings.ToLower(name)
		spellings[lower] = append(spellings[lower], name)
	}
	for _, lower := range slices.Sorted(maps.Keys(spellings)) {
		if names := spellings[lower]; len(names) > 1 {
			w.note("names that differ in case only: %s", strings.Join(names, ", "))
		}
	}
}

func (w *walk) note(format string, args ...any) {
	w.slice.Notes = append(w.slice.Notes, fmt.Sprintf(format, args...))
}
