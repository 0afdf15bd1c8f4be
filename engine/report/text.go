package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/engine/check"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
	"github.com/lustrum-mcp/lustrum/engine/text"
)

// Options of Text.
type Options struct {
	Color   bool // ANSI colours
	Verbose bool // list what passed, informs or was skipped, too
}

// width of the lines that Text wraps, in columns.
const width = 100

// Text writes a report for a person: what it comes to, then what to repair,
// the worst first, with evidence and advice.
func Text(w io.Writer, rep *check.Report, o Options) error {
	p := &printer{o: o}
	p.head(rep)
	p.judgement(rep)
	p.findings(rep)
	p.foot(rep)
	_, err := w.Write(p.b.Bytes())
	return err
}

type printer struct {
	b bytes.Buffer
	o Options
}

// ANSI colours by what they mark.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
)

func (p *printer) colour(code, s string) string {
	if !p.o.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *printer) line(format string, args ...any) {
	p.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	p.b.WriteByte('\n')
}

// row is one aligned fact.
func (p *printer) row(label, value string) {
	if value != "" {
		p.line("  %-11s %s", label, value)
	}
}

func (p *printer) head(rep *check.Report) {
	p.line("%s", p.colour(bold, text.Escape(rep.Endpoint.URL)))
	s := rep.Server
	name := strings.TrimSpace(text.Escape(s.Name) + " " + text.Escape(s.Version))
	if name != "" {
		p.row("server", name+" (as it calls itself)")
	}
	protocol := text.Escape(s.Era)
	if len(s.ProtocolVersions) > 0 {
		protocol += ": " + text.Escape(strings.Join(s.ProtocolVersions, ", "))
	}
	p.row("protocol", protocol)
	p.row("access", access(rep))
	p.row("offers", offers(rep))
	if !rep.StartedAt.IsZero() {
		p.row("checked", fmt.Sprintf("%s, %s in %.1f s", rep.StartedAt.UTC().Format("2006-01-02 15:04 UTC"),
			plural(len(rep.Exchanges), "request"), max(rep.FinishedAt.Sub(rep.StartedAt), 0).Round(100*time.Millisecond).Seconds()))
	}
	p.line("")
}

// offers counts the catalogue, when there was one to be seen.
func offers(rep *check.Report) string {
	if rep.Auth != check.AuthOpen && len(rep.Tools)+rep.Resources+rep.Prompts == 0 {
		return "not seen"
	}
	return fmt.Sprintf("%s, %s, %s", plural(len(rep.Tools), "tool"), plural(rep.Resources, "resource"), plural(rep.Prompts, "prompt"))
}

func access(rep *check.Report) string {
	switch rep.Auth {
	case check.AuthOpen:
		return "open: answers without credentials"
	case check.AuthOAuth:
		issuers := make([]string, len(rep.Issuers))
		for i, s := range rep.Issuers {
			issuers[i] = text.Escape(s)
		}
		if len(issuers) == 0 {
			return "protected by OAuth"
		}
		return "protected by OAuth, tokens from " + strings.Join(issuers, ", ")
	case check.AuthProtected:
		return "protected, no OAuth metadata found"
	}
	return "could not be told"
}

func (p *printer) judgement(rep *check.Report) {
	s := rep.Score
	if s == nil {
		p.line("  %s   nothing could be assessed", p.colour(dim, "no grade"))
		p.line("")
		return
	}
	p.line("  %s   %.1f of 100   coverage %.1f %%, could be anything from %.1f to %.1f   (%s)",
		p.colour(gradeColour(s.Grade)+";"+bold, s.Grade), s.Total, s.Coverage, s.Bounds[0], s.Bounds[1], text.Escape(s.Rubric))
	for _, c := range s.Caps {
		p.line("      %s", p.colour(red, text.Escape(c)))
	}
	p.line("")
	for _, name := range categories(s) {
		if points := s.ByCategory[name]; points != nil {
			p.line("  %-14s %5.1f", text.Escape(name), *points)
		} else {
			p.line("  %-14s %s", text.Escape(name), p.colour(dim, "not assessed"))
		}
	}
	p.line("")
}

// categories lists them as the rubric does, and those of an unknown rubric in
// alphabetical order.
func categories(s *rubric.Score) []string {
	var names []string
	if r, err := rubric.Load(s.Rubric); err == nil {
		for _, c := range r.Categories {
			if _, ok := s.ByCategory[c.Name]; ok {
				names = append(names, c.Name)
			}
		}
		return names
	}
	for name := range s.ByCategory {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func gradeColour(grade string) string {
	switch grade {
	case "A", "B":
		return green
	case "C", "D":
		return yellow
	}
	return red
}

// rank sorts findings: what to repair first, then what to know.
func rank(f check.Finding) int {
	switch {
	case f.Status == rubric.Fail && f.Severity == rubric.Critical:
		return 0
	case f.Status == rubric.Fail && f.Severity == rubric.Major:
		return 1
	case f.Status == rubric.Fail:
		return 2
	case f.Status == rubric.Warn:
		return 3
	case f.Status == rubric.Info:
		return 4
	case f.Status == rubric.Pass:
		return 5
	}
	return 6
}

const firstQuiet = 4 // the first rank that only Verbose shows

func (p *printer) findings(rep *check.Report) {
	list := slices.Clone(rep.Findings)
	slices.SortStableFunc(list, func(a, b check.Finding) int { return cmp.Compare(rank(a), rank(b)) })
	shown := 0
	for _, f := range list {
		if rank(f) >= firstQuiet {
			break
		}
		p.finding(f)
		shown++
	}
	if n := rep.Counts(); shown == 0 && n[rubric.Pass] > 0 {
		// A check that could not look found nothing either, and is no praise.
		found := "Nothing to repair was found."
		if n[rubric.Skip] > 0 {
			found = fmt.Sprintf("Nothing to repair was found in what could be looked at; %s skipped.", plural(n[rubric.Skip], "check"))
		}
		p.line("  %s", found)
		p.line("")
	}
	if p.o.Verbose {
		for _, f := range list[shown:] {
			p.brief(f)
		}
		if shown < len(list) {
			p.line("")
		}
	}
}

func (p *printer) label(f check.Finding) string {
	word := string(f.Status)
	if f.Status == rubric.Fail {
		word = string(f.Severity)
	}
	code := map[int]string{0: red + ";" + bold, 1: red, 2: yellow, 3: yellow, 4: blue, 5: green, 6: dim}[rank(f)]
	return p.colour(code, fmt.Sprintf("%-8s", word))
}

// finding is one thing to repair, with all that is known about it.
func (p *printer) finding(f check.Finding) {
	subject := ""
	if f.Subject != "" {
		subject = "  [" + text.Escape(f.Subject) + "]"
	}
	p.line("  %s  %s%s  %s", p.label(f), p.colour(bold, f.ID), subject, p.colour(dim, f.Title))
	p.block("", text.Escape(f.Observed)+evidence(f))
	p.block("do: ", text.Escape(f.Advice))
	p.block("see: ", text.Escape(f.Reference))
	p.line("")
}

func (p *printer) brief(f check.Finding) {
	subject := ""
	if f.Subject != "" {
		subject = "[" + text.Escape(f.Subject) + "] "
	}
	p.line("  %s  %-34s %s", p.label(f), f.ID, subject+text.Escape(f.Observed)+evidence(f))
}

func evidence(f check.Finding) string {
	if f.Evidence == "" {
		return ""
	}
	return " (" + f.Evidence + ")"
}

// block wraps a paragraph under a finding.
func (p *printer) block(lead, s string) {
	if s == "" {
		return
	}
	const indent = "            "
	column := len(indent) + len(lead)
	p.b.WriteString(indent + lead)
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			p.b.WriteString("\n" + indent + strings.Repeat(" ", len(lead)))
			column = len(indent) + len(lead)
		default:
			p.b.WriteByte(' ')
			column++
		}
		p.b.WriteString(word)
		column += n
	}
	p.b.WriteByte('\n')
}

func (p *printer) foot(rep *check.Report) {
	if b := rep.Blocked; b != nil {
		p.line("  %s stopped the run: %s", b.Phase, text.Escape(b.Reason))
	}
	if len(rep.Hosts) > 0 {
		hosts := make([]string, len(rep.Hosts))
		for i, h := range rep.Hosts {
			hosts[i] = text.Escape(h)
		}
		p.line("  not contacted, being outside the scope: %s", strings.Join(hosts, ", "))
	}
	n := rep.Counts()
	p.line("  %s: %d failed, %d to look at, %d passed, %d to know, %d skipped", plural(len(rep.Findings), "finding"),
		n[rubric.Fail], n[rubric.Warn], n[rubric.Pass], n[rubric.Info], n[rubric.Skip])
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
