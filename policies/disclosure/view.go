package disclosure

import (
	"fmt"
	"strings"
	"unicode"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Server is a statement as rules see it, under the name "server".
type Server struct {
	Auth      string   `cel:"auth" yaml:"auth"` // open, protected, oauth or unreachable
	Transport string   `cel:"transport" yaml:"transport"`
	Era       string   `cel:"era" yaml:"era"`
	Issuers   []string `cel:"issuers" yaml:"issuers"`
	Tools     []Tool   `cel:"tools" yaml:"tools"`
	Fails     []Fail   `cel:"fails" yaml:"fails"`
}

// Tool is a listed tool. ReadOnly and Destructive are true only when the server
// says so itself; Words are the words of its name in lower case.
type Tool struct {
	Name        string   `cel:"name" yaml:"name"`
	ReadOnly    bool     `cel:"readOnly" yaml:"readOnly"`
	Destructive bool     `cel:"destructive" yaml:"destructive"`
	Words       []string `cel:"words" yaml:"-"`
}

// Fail is a verdict with status fail.
type Fail struct {
	ID       string `cel:"id" yaml:"id"`
	Severity string `cel:"severity" yaml:"severity"`
	Subject  string `cel:"subject" yaml:"subject"`
}

func view(st *attest.Statement) Server {
	p := &st.Predicate
	s := Server{Auth: p.Auth.State, Transport: p.Target.Transport, Era: p.Target.Server.Era, Issuers: p.Auth.Issuers}
	if p.Catalogue != nil {
		for _, t := range p.Catalogue.Tools {
			s.Tools = append(s.Tools, Tool{Name: t.Name, ReadOnly: is(t.Annotations.ReadOnly), Destructive: is(t.Annotations.Destructive)})
		}
	}
	for _, v := range p.Verdicts {
		if v.Status == rubric.Fail {
			s.Fails = append(s.Fails, Fail{ID: v.ID, Severity: string(v.Severity), Subject: v.Subject})
		}
	}
	return s.withWords()
}

func is(hint *bool) bool { return hint != nil && *hint }

func (s Server) withWords() Server {
	tools := make([]Tool, len(s.Tools))
	for i, t := range s.Tools {
		t.Words = words(t.Name)
		tools[i] = t
	}
	s.Tools = tools
	return s
}

// words splits a name at everything that is no letter or digit, and where a
// lower-case letter meets an upper-case one: "runSQL_query" is run, sql, query.
func words(name string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = nil
		}
	}
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && len(word) > 0 && !unicode.IsUpper(word[len(word)-1]):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return out
}

// maxCost bounds the evaluation of a rule over one server: a catalogue of
// thousands of tools with a list of words each fits in it.
const maxCost = 50_000_000

// compile holds a rule's condition against the view.
func compile(expr string) (cel.Program, error) {
	tags := ext.ParseStructTags(true)
	env, err := cel.NewEnv(
		ext.NativeTypes(cel.NativeTypeFor[Server](tags), cel.NativeTypeFor[Tool](tags), cel.NativeTypeFor[Fail](tags)),
		cel.Variable("server", cel.ObjectType("disclosure.Server")), cel.ParserRecursionLimit(64),
	)
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(expr)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, fmt.Errorf("condition: line %d, column %d: %s", first.Location.Line(), first.Location.Column()+1, first.Message)
	}
	if !ast.OutputType().IsExactType(cel.BoolType) {
		return nil, fmt.Errorf("condition is of type %s and not bool", ast.OutputType())
	}
	return env.Program(ast, cel.CostLimit(maxCost))
}
