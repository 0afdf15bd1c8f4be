package site

import (
	"html/template"
	"path"
	"strings"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/dataset"
	"github.com/lustrum-mcp/lustrum/dataset/figures"
)

// startView is the start page.
type startView struct {
	Registry    string
	RegistryURL string
	Namespaces  []string
	Operator    string
	Contact     string
	Facts       []fact
	Grades      []part
	Stack       template.HTML
	Coverage    []fact
	Missing     string
	Figures     []figureView
	HasFigures  bool
	Note        string
	Downloads   []download
	Editions    []editionLink
	KeyID       string
	Key         string
}

// fact is one number of the page.
type fact struct {
	ID     string // of the element, stable
	Number string
	Text   string
	Note   string
}

type download struct{ Path, Name, What string }

func (s *site) writeStart() error {
	e := s.in.Edition
	folder := editionsDir + e.ID + "/"
	v := startView{
		Registry: line(e.Registry), RegistryURL: link(e.Registry), Operator: name(e.Operator), Contact: line(e.Contact),
		Facts: s.facts(), Grades: s.grades(), Coverage: s.coverage(), Missing: s.missing(),
		HasFigures: s.in.Figures != nil, Note: line(s.in.FiguresNote), Downloads: s.downloads(folder),
		KeyID: name(s.in.KeyID), Key: keyPath,
	}
	for _, n := range e.Namespaces {
		v.Namespaces = append(v.Namespaces, name(n))
	}
	words := make([]string, 0, len(v.Grades))
	for _, g := range v.Grades {
		words = append(words, g.Label+": "+count(g.Count))
	}
	v.Stack = stack(v.Grades, "Grades. "+strings.Join(words, ", ")+".")
	if s.in.Figures != nil {
		for i := range s.in.Figures.Figures {
			v.Figures = append(v.Figures, viewFigure(&s.in.Figures.Figures[i], folder))
		}
	}
	v.Editions = s.editions()
	return s.render("start.html", "index.html", "Census of MCP servers", v)
}

// facts are the totals of the edition, straight from its records.
func (s *site) facts() []fact {
	operators, tools := map[string]bool{}, 0
	state := map[string]int{}
	for _, v := range s.order {
		operators[v.Record.Operator] = true
		tools += v.Tools
		state[v.Auth.Class]++
	}
	return []fact{
		{"fact-servers", count(len(s.order)), noun(len(s.order), "server", "servers"), "with a signed record"},
		{"fact-operators", count(len(operators)), noun(len(operators), "operator", "operators"), "registrable domains"},
		{"fact-open", count(state["open"]), "open", "answer without credentials"},
		{"fact-protected", count(state["protected"]), "protected", "ask for credentials"},
		{"fact-tools", count(tools), noun(tools, "tool", "tools"), "listed, none of them called"},
		{"fact-listings", count(len(s.in.Edition.Listings)), noun(len(s.in.Edition.Listings), "listing", "listings"), "rows of the registry looked at"},
	}
}

func noun(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// coverage sorts the servers by how much of the rubric could be assessed.
func (s *site) coverage() []fact {
	var full, part, nothing int
	for _, v := range s.order {
		switch score := v.Statement.Predicate.Score; {
		case score == nil:
			nothing++
		case score.Coverage >= 100:
			full++
		default:
			part++
		}
	}
	return []fact{
		{"coverage-full", count(full), "assessed in full", "every category of the rubric could be looked at"},
		{"coverage-part", count(part), "assessed in part", "most often because the server rightly asks for credentials"},
		{"coverage-none", count(nothing), "not assessed", "nothing could be told, so there is no score"},
	}
}

// downloads are the files of the edition that the dataset and the signer
// write, relative to the root.
func (s *site) downloads(folder string) []download {
	what := map[string]string{
		"endpoints": "one row for each server, with its score",
		"listings":  "one row for each entry of the registry",
		"checks":    "server by check, with the outcome",
		"tools":     "server by tool, with its annotations",
	}
	var all []download
	add := func(file, text string) {
		all = append(all, download{Path: folder + file, Name: path.Base(file), What: text})
	}
	for _, t := range []string{"endpoints", "listings", "checks", "tools"} {
		add(t+dataset.Ext, what[t])
	}
	if s.in.Figures != nil {
		add(figures.File, "every figure with its query and inputs; CSV and SQL stand under each figure")
	}
	add(attest.EditionFile, "the edition's statement: every file and statement by digest")
	add(attest.EditionFile+attest.BundleSuffix, "its signature, a Sigstore bundle")
	add(dataset.SumsFile, "for sha256sum -c")
	add(dataset.CardFile, "what the tables hold")
	all = append(all,
		download{Path: "index.json", Name: "index.json", What: "the list of servers, for programs"},
		download{Path: keyPath, Name: path.Base(keyPath), What: "the public key that verifies every signature here"},
	)
	return all
}
