package near

import "strings"

// maxLength is how many bytes of a word are compared. No name is longer.
const maxLength = 64

// Word returns the known word nearest to word, "" when none is near: within a
// third of its length in edits, two at least, letter case aside. A word of more than 64 bytes is near none.
func Word(word string, known []string) string {
	if len(word) > maxLength {
		return ""
	}
	best, distance := "", 1+max(2, len(word)/3)
	for _, k := range known {
		if d := edits(strings.ToLower(word), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// edits counts insertions, deletions, substitutions and swaps of neighbours
// (https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance, optimal string
// alignment).
func edits(a, b string) int {
	a, b = a[:min(len(a), maxLength)], b[:min(len(b), maxLength)]
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
