package text

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// pattern is a compiled expression with the words that a text must hold for it
// to match at all. Most texts hold none of them, and looking for words is a
// hundred times faster than matching.
type pattern struct {
	*regexp.Regexp
	need []string // at least one of them is in every match; empty: not known
}

func newPattern(expr string) (pattern, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return pattern{}, err
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return pattern{}, err
	}
	need := needed(parsed)
	for _, n := range need {
		if len(n) < shortestNeed {
			return pattern{Regexp: re}, nil
		}
	}
	return pattern{re, need}, nil
}

// shortestNeed is the length below which a literal is in too many texts.
const shortestNeed = 3

// needed returns literals one of which every match contains; nil when there is
// no such set.
func needed(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return nil
		}
		return []string{string(re.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if set := needed(sub); better(set, best) {
				best = set
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			set := needed(sub)
			if set == nil {
				return nil
			}
			all = append(all, set...)
		}
		return all
	}
	return nil
}

// better prefers the set whose shortest literal is longer, then the smaller.
func better(a, b []string) bool {
	if len(a) == 0 {
		return false
	}
	if len(b) == 0 {
		return true
	}
	la, lb := shortestOf(a), shortestOf(b)
	if min(la, 5) != min(lb, 5) {
		return la > lb
	}
	return len(a) < len(b)
}

func shortestOf(set []string) int {
	n := len(set[0])
	for _, s := range set {
		n = min(n, len(s))
	}
	return n
}

// holds remembers which words a text holds.
type holds struct {
	in   string
	seen map[string]bool
}

func (h *holds) any(words []string) bool {
	if len(words) == 0 {
		return true
	}
	for _, w := range words {
		has, known := h.seen[w]
		if !known {
			has = strings.Contains(h.in, w)
			if h.seen == nil {
				h.seen = map[string]bool{}
			}
			h.seen[w] = has
		}
		if has {
			return true
		}
	}
	return false
}
