package graph

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxPath bounds a path expression, in bytes.
const MaxPath = 1024

// plan is a path expression, held against the schema.
type plan struct {
	first string
	steps []step
	nodes []variable // what conditions call the nodes, in order
}

// variable is a name in a condition.
type variable struct {
	name string
	kind Kind
	at   int // step after which it is known; nodes: 0 is the first
}

// step leads to the next node.
type step struct {
	kind  string // that it leads to
	edges []Edge
	back  bool
	star  bool // any number of inheriting edges
}

func (s step) finding() bool {
	return slices.ContainsFunc(s.edges, func(e Edge) bool { return e.Finding })
}

var (
	kindToken  = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*)\s*`)
	arrowToken = regexp.MustCompile(`^(->\*|<-\*|->|<-([A-Za-z_]+)-|<-|-([A-Za-z_]+)->)`)
)

// parsePath reads a path such as "server -> tool": kinds with arrows between
// them. Between two kinds that no edge joins, the kinds in between are filled
// in when there is exactly one way. "->*" follows any number of inheriting
// edges, none included; "<-" and "<-*" go the other way; "-NAME->" and
// "<-NAME-" follow one edge only.
func parsePath(expr string) (*plan, error) {
	if len(expr) > MaxPath {
		return nil, fmt.Errorf("the path is %d bytes long, over the bound of %d", len(expr), MaxPath)
	}
	kind, rest, err := nextKind(expr)
	if err != nil {
		return nil, err
	}
	p := &plan{first: kind}
	for at := kind; rest != ""; at = kind {
		m := arrowToken.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("path: %q is no arrow: write ->, ->*, <-, <-*, -EDGE-> or <-EDGE-", rest)
		}
		if kind, rest, err = nextKind(rest[len(m[0]):]); err != nil {
			return nil, err
		}
		back := strings.HasPrefix(m[0], "<")
		switch name := m[2] + m[3]; {
		case strings.HasSuffix(m[0], "*"):
			err = p.starStep(at, kind, back)
		case name != "":
			err = p.namedStep(at, kind, name, back)
		default:
			err = p.plainStep(at, kind, back)
		}
		if err != nil {
			return nil, err
		}
	}
	p.name()
	return p, nil
}

func nextKind(s string) (kind, rest string, err error) {
	m := kindToken.FindStringSubmatch(s)
	if m == nil {
		return "", "", fmt.Errorf("path: a kind is missing at %q: there are %s", s, strings.Join(kindNames(), ", "))
	}
	if _, ok := kindOf(m[1]); !ok {
		return "", "", fmt.Errorf("path: %q is no kind of node: %s", m[1], suggest(m[1], kindNames()))
	}
	return m[1], s[len(m[0]):], nil
}

// between are the edges that join two kinds in a direction.
func between(from, to string, back bool) []Edge {
	if back {
		from, to = to, from
	}
	return edgesWhere(func(e Edge) bool { return e.From == from && e.To == to })
}

func (p *plan) starStep(from, to string, back bool) error {
	along := slices.Concat(inheriting, findings)
	if !reachable(from, to, along, back) {
		return fmt.Errorf("path: no chain of inheriting edges leads from %s to %s%s", arrow(from, back), to, otherWay(from, to, along, back))
	}
	s := step{kind: to, star: true, back: back, edges: inheriting}
	if from == "check" || to == "check" {
		s.edges = along
	}
	p.steps = append(p.steps, s)
	return nil
}

func (p *plan) namedStep(from, to, name string, back bool) error {
	direct := between(from, to, back)
	i := slices.DeleteFunc(slices.Clone(direct), func(e Edge) bool { return e.Name != name })
	if len(i) > 0 {
		p.steps = append(p.steps, step{kind: to, edges: i, back: back})
		return nil
	}
	names := edgeNames(direct)
	if len(names) == 0 {
		return fmt.Errorf("path: no edge %q leads from %s to %s, and no other does", name, arrow(from, back), to)
	}
	return fmt.Errorf("path: no edge %q leads from %s to %s: %s", name, arrow(from, back), to, suggest(name, names))
}

func edgeNames(es []Edge) []string {
	var out []string
	for _, e := range es {
		if !slices.Contains(out, e.Name) {
			out = append(out, e.Name)
		}
	}
	return out
}

// plainStep follows any edge between the kinds, or fills in the kinds between.
func (p *plan) plainStep(from, to string, back bool) error {
	if direct := between(from, to, back); len(direct) > 0 {
		p.steps = append(p.steps, step{kind: to, edges: direct, back: back})
		return nil
	}
	ways := chains(from, to, edges, back)
	switch len(ways) {
	case 0:
		return fmt.Errorf("path: no way leads from %s to %s%s", arrow(from, back), to, otherWay(from, to, edges, back))
	case 1:
	default:
		var names []string
		for _, w := range ways {
			names = append(names, strings.Join(w, " -> "))
		}
		return fmt.Errorf("path: more than one way leads from %s to %s: write one out: %s", from, to, strings.Join(names, "; "))
	}
	for at := 1; at < len(ways[0]); at++ {
		here, there := ways[0][at-1], ways[0][at]
		p.steps = append(p.steps, step{kind: there, edges: between(here, there, back), back: back})
	}
	return nil
}

// chains are the ways from kind to kind that pass no kind twice.
func chains(from, to string, along []Edge, back bool) [][]string {
	var out [][]string
	var follow func(way []string)
	follow = func(way []string) {
		for _, k := range kindNames() {
			if slices.Contains(way, k) || !slices.ContainsFunc(between(way[len(way)-1], k, back), func(e Edge) bool {
				return slices.Contains(along, e)
			}) {
				continue
			}
			next := append(slices.Clone(way), k)
			if k == to {
				out = append(out, next)
				continue
			}
			follow(next)
		}
	}
	follow([]string{from})
	return out
}

func reachable(from, to string, along []Edge, back bool) bool {
	return len(chains(from, to, along, back)) > 0 || slices.ContainsFunc(between(from, to, back), func(e Edge) bool { return slices.Contains(along, e) })
}

func arrow(from string, back bool) string {
	if back {
		return from + " backwards"
	}
	return from
}

func otherWay(from, to string, along []Edge, back bool) string {
	if !reachable(from, to, along, !back) {
		return ""
	}
	if back {
		return fmt.Sprintf(": did you mean %s -> %s?", from, to)
	}
	return fmt.Sprintf(": did you mean %s <- %s?", from, to)
}

// name gives each node the name of its kind; the second of a kind is "tool2".
func (p *plan) name() {
	count := map[string]int{}
	add := func(kind string, at int) {
		count[kind]++
		name := kind
		if n := count[kind]; n > 1 {
			name += strconv.Itoa(n)
		}
		k, _ := kindOf(kind)
		p.nodes = append(p.nodes, variable{name: name, kind: k, at: at})
	}
	add(p.first, 0)
	for i, s := range p.steps {
		add(s.kind, i+1)
	}
}

// findings are the names of what edges to checks carry: finding, finding2.
func (p *plan) findings() []variable {
	var out []variable
	for i, s := range p.steps {
		if !s.finding() {
			continue
		}
		v := variable{name: "finding", kind: finding, at: i + 1}
		if len(out) > 0 {
			v.name += strconv.Itoa(len(out) + 1)
		}
		out = append(out, v)
	}
	return out
}
