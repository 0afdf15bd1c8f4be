package site

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/dataset"
)

// noGrade stands for a server of which nothing could be assessed.
const noGrade = "none"

// gradeKeys are the grades from the best to none.
var gradeKeys = []string{"A", "B", "C", "D", "F", noGrade}

// serverView is a server as the list shows it.
type serverView struct {
	*dataset.Record
	Name      string // what people know it by
	Endpoint  string
	Link      string // Endpoint when it may be followed
	Host      string
	Operator  string
	Transport string
	Grade     string // a letter, or "none"
	Score     string // one decimal; empty without one
	Coverage  string
	Auth      label
	Era       string
	Outcome   string
	Tools     int
	HasTools  bool // whether the catalogue could be read
	key       string
}

// label is a word for people and the class that colours it.
type label struct{ Text, Class, Title string }

func (v *serverView) ToolCount() string {
	if !v.HasTools {
		return "–"
	}
	return count(v.Tools)
}

func (v *serverView) ScoreText() string {
	if v.Score == "" {
		return "–"
	}
	return v.Score
}

func (v *serverView) CoverageText() string {
	if v.Coverage == "" {
		return "–"
	}
	return v.Coverage + " %"
}

// server prepares one record.
func (s *site) server(r *dataset.Record) *serverView {
	p := &r.Statement.Predicate
	outcome := dataset.Outcome(r.Statement)
	v := &serverView{
		Record: r, Name: s.serverName(r), Endpoint: line(p.Target.Endpoint), Link: link(p.Target.Endpoint),
		Host: name(r.Host), Operator: name(r.Operator), Transport: name(p.Target.Transport),
		Grade: noGrade, Auth: authLabel(p.Auth.State, outcome), Era: eraWord(p.Target.Server.Era), Outcome: outcome,
	}
	if p.Score != nil {
		v.Grade = gradeOf(p.Score.Grade)
		v.Score, v.Coverage = points(p.Score.Total), points(p.Score.Coverage)
	}
	if p.Catalogue != nil {
		v.Tools, v.HasTools = len(p.Catalogue.Tools), true
	}
	v.key = strings.ToLower(v.Name)
	return v
}

// gradeOf keeps to the grades that the pages have signs for.
func gradeOf(grade string) string {
	if slices.Contains(gradeKeys, grade) {
		return grade
	}
	return noGrade
}

// serverName is what a registry lists the endpoint as, else what the server
// calls itself, else its host. A listed name comes first since its publisher
// had to prove the namespace, and anybody can call a server anything.
func (s *site) serverName(r *dataset.Record) string {
	for _, l := range s.listed[r.ID] {
		if n := name(l.Name); n != "" {
			return n
		}
	}
	for _, l := range r.Statement.Predicate.Target.ListedAs {
		if n := name(l.Name); n != "" {
			return n
		}
	}
	if n := name(r.Statement.Predicate.Target.Server.Name); n != "" {
		return n
	}
	return cmp.Or(name(r.Host), r.ID)
}

// eraWord names the handshakes that were answered; of a server that answered
// neither, as a protected one rightly does, none was seen.
func eraWord(era string) string {
	if era == "none" {
		return "not seen"
	}
	return name(era)
}

// authLabel says how first contact was answered. The state "unreachable" only
// says that nothing about access was learned; the outcome says why.
func authLabel(state, outcome string) label {
	switch {
	case state == "open":
		return label{"Open", "open", "Answers without credentials"}
	case state == "oauth":
		return label{"Protected, OAuth", "protected", "Asks for credentials and publishes where to get a token"}
	case state == "protected":
		return label{"Protected", "protected", "Asks for credentials and does not publish where to get them"}
	case outcome == dataset.Unreachable:
		return label{"Unreachable", "unknown", "No HTTP answer came"}
	case outcome == dataset.NotMCP:
		return label{"Not MCP", "unknown", "Something answers there, but not as an MCP server"}
	}
	return label{"Not known", "unknown", "Whether it asks for credentials could not be told"}
}

// ordered sorts servers by name, then id.
func ordered(views map[string]*serverView) []*serverView {
	all := make([]*serverView, 0, len(views))
	for _, v := range views {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b *serverView) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.ID, b.ID))
	})
	return all
}

// listView is the page of all servers.
type listView struct {
	Servers []*serverView
	Grades  []part
	Missing string // the sentence on what is not in the edition; empty when all is
}

func (s *site) writeServers() error {
	return s.render("servers.html", "servers.html", "Servers", listView{
		Servers: s.order, Grades: s.grades(), Missing: s.missing(),
	})
}

// grades counts servers by grade, from A to none.
func (s *site) grades() []part {
	parts := make([]part, len(gradeKeys))
	for i, g := range gradeKeys {
		parts[i] = part{Key: g, Label: g}
		if g == noGrade {
			parts[i].Label = "Not assessed"
		}
	}
	for _, v := range s.order {
		parts[slices.Index(gradeKeys, v.Grade)].Count++
	}
	return parts
}

// missing says how many endpoints are not in a public edition, and never why.
func (s *site) missing() string {
	n := s.in.Edition.NotInEdition
	if n == 0 {
		return ""
	}
	return plural(n, "endpoint is", "endpoints are") + " not in this edition"
}
