package check

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
	"github.com/lustrum-mcp/lustrum/engine/text"
)

// textChecks are the checks about what a model reads.
var textChecks = []string{"catalog.text.hidden", "catalog.text.comments", "catalog.text.instructions",
	"catalog.text.secret_paths", "catalog.names.confusable"}

// maxTexts bounds the text that one run reads, in bytes: reading is the dearest
// thing a check does, and a hostile catalogue can be of any size.
const maxTexts = 4 << 20

// definition is one thing whose texts are read as one: a tool, a prompt, a
// resource, or the instructions.
type definition struct {
	subject string
	fields  []text.Field
}

// judgeTexts reads every text that reaches the model.
func (r *run) judgeTexts(ctx context.Context, p *mcp.Probe, l *listing) {
	definitions := definitionsOf(l)
	ev := l.ev("tools", "resources", "prompts")
	if s, at := instructionsOf(p); s != "" {
		definitions = append(definitions, definition{"instructions", []text.Field{{Path: "instructions", Kind: text.Instructions, Text: s}}})
		ev = ev.with(at)
	}
	if len(definitions) == 0 {
		for _, id := range textChecks {
			r.skip(id, "nothing was listed")
		}
		return
	}
	tallies := map[string]*tally{}
	for _, id := range textChecks {
		tallies[id] = &tally{run: r, id: id, ev: ev}
	}
	read, total, size := 0, 0, 0
	whole := true
	var names []text.Field
	for _, d := range definitions {
		for _, f := range d.fields {
			size += len(f.Text)
			whole = whole && len(f.Text) < text.MaxText
		}
		if ctx.Err() != nil || size > maxTexts {
			break
		}
		read++
		total += len(d.fields)
		whole = whole && len(d.fields) < text.MaxFields
		r.reportMatches(tallies, d, text.Scan(d.fields...))
		for _, f := range d.fields {
			if f.Kind == text.Name && strings.HasPrefix(f.Path, "tools[") && strings.HasSuffix(f.Path, "].name") {
				names = append(names, f)
			}
		}
	}
	for _, m := range text.Twins(names) {
		tallies[m.Check].fail(m.Severity, strings.TrimSuffix(strings.TrimPrefix(m.Field, "tools["), "].name"), m.Quote+" "+m.Note)
	}
	if read < len(definitions) || !whole {
		reason := "nothing was found in what was read, but there is more text than this reads"
		if ctx.Err() != nil {
			reason = ended(ctx.Err())
		}
		for _, id := range textChecks {
			if tallies[id].bad == 0 {
				r.skip(id, reason)
			}
		}
		return
	}
	for _, id := range textChecks {
		tallies[id].done(fmt.Sprintf("none in %s of %s", count(total, "text", "texts"), count(len(definitions), "definition", "definitions")))
	}
}

// reportMatches makes one finding per check and definition, at the worst
// severity, quoting the worst matches.
func (r *run) reportMatches(tallies map[string]*tally, d definition, matches []text.Match) {
	for _, id := range textChecks {
		var worst rubric.Severity
		var quotes []string
		for _, severity := range []rubric.Severity{rubric.Critical, rubric.Major, rubric.Minor} {
			for _, m := range matches {
				if m.Check != id || m.Severity != severity {
					continue
				}
				if worst == "" {
					worst = severity
				}
				quotes = append(quotes, wording(m))
			}
		}
		if worst != "" {
			tallies[id].fail(worst, d.subject, some(quotes, 3))
		}
	}
}

func wording(m text.Match) string {
	s := fmt.Sprintf("%s in %s: %s", m.Rule, clip(m.Field, 90), clip(m.Quote, 150))
	if m.Note != "" {
		s += " (" + clip(m.Note, 90) + ")"
	}
	return s
}

// definitionsOf gathers the texts of a catalogue.
func definitionsOf(l *listing) []definition {
	var list []definition
	add := func(subject, base string, kind text.Kind, raw json.RawMessage) {
		fields, err := text.Fields(base, kind, raw)
		if err != nil && len(fields) == 0 {
			return
		}
		list = append(list, definition{subject, fields})
	}
	for _, t := range l.tools {
		base := t.key
		if t.Name != "" {
			base = "tools[" + t.key + "]"
		}
		add(t.key, base, text.Description, t.Definition)
	}
	for _, kind := range []struct {
		capability, name string
		kind             text.Kind
	}{{"prompts", "name", text.Prompt}, {"resources", "uri", text.Description}} {
		for i, raw := range l.walks[kind.capability].Items {
			members, _ := mcp.Object(raw)
			name, _ := jsonString(members[kind.name])
			if name == "" {
				name = fmt.Sprint(i)
			}
			add(kind.capability+"["+name+"]", kind.capability+"["+name+"]", kind.kind, raw)
		}
	}
	return list
}
