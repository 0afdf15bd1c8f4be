package verify

import "github.com/lustrum-mcp/lustrum/attest"

// Outcome of one criterion.
type Outcome string

// Outcomes. NotAsked means that nothing was looked at; it is never a pass.
const (
	Pass     Outcome = "pass"
	Fail     Outcome = "fail"
	NotAsked Outcome = "not asked"
)

// Names of the criteria, in the order they are judged.
const (
	Signature     = "signature"      // the bundle's signature and whose it is
	SameContent   = "content"        // the file beside the bundle is what was signed
	StatementType = "statement type" // _type
	PredicateType = "predicate type" // predicateType
	Subject       = "subject"        // the endpoint is among the subjects, by sha256
	Fields        = "fields"         // no member unknown, missing, doubled or malformed; canonical bytes
	Counts        = "counts"         // recomputed from the verdicts, as is all that follows
	Categories    = "categories"
	Score         = "score"
	Grade         = "grade"
	Caps          = "caps"
	Coverage      = "coverage"
	Bounds        = "bounds"
	Times         = "times" // in order, not in the future

	// Asked by the caller only.
	Endpoint = "endpoint"
	MaxAge   = "age"
	MinScore = "minimum score"
	Required = "required check"

	// Of an edition only.
	Files      = "files"      // every listed file has the digest listed
	Unlisted   = "unlisted"   // no file stands there that is not listed
	Statements = "statements" // every statement is there, listed and verified
	Span       = "span"       // the edition's times are those of its statements
)

// Criterion is one question and its answer. Detail is plain text that quotes
// what the statement says; it must be escaped where it is shown.
type Criterion struct {
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail,omitempty"`
}

// Result is the judgement of one file or edition.
type Result struct {
	File     string      `json:"file,omitempty"`
	Digest   string      `json:"digest,omitempty"` // SHA-256 of the statement
	Verified bool        `json:"verified"`
	Criteria []Criterion `json:"criteria"`

	// Parts are the statements of an edition that are not verified, at most
	// maxParts of them; Checked counts all that were looked at.
	Parts   []*Result `json:"parts,omitempty"`
	Checked int       `json:"checked,omitempty"`

	Statement *attest.Statement        `json:"-"` // nil when it could not be read
	Edition   *attest.EditionStatement `json:"-"` // of an edition only
}

const maxParts = 100

// Failed returns the criteria that failed.
func (r *Result) Failed() []Criterion {
	var out []Criterion
	for _, c := range r.Criteria {
		if c.Outcome == Fail {
			out = append(out, c)
		}
	}
	return out
}

// Outcome is how a criterion came out, NotAsked when it was not judged.
func (r *Result) Outcome(name string) Outcome {
	for _, c := range r.Criteria {
		if c.Name == name {
			return c.Outcome
		}
	}
	return NotAsked
}

func (r *Result) add(name string, outcome Outcome, detail string) {
	r.Criteria = append(r.Criteria, Criterion{Name: name, Outcome: outcome, Detail: detail})
}

// judge adds a pass with a detail, or a fail with the error's text.
func (r *Result) judge(name string, err error, detail string) {
	if err != nil {
		r.add(name, Fail, err.Error())
		return
	}
	r.add(name, Pass, detail)
}

// finish decides: every criterion passed, except that the signature may be not
// asked when the caller accepts that in so many words.
func (r *Result) finish(acceptUnsigned bool) *Result {
	r.Verified = len(r.Criteria) > 0
	for _, c := range r.Criteria {
		excused := c.Name == Signature && c.Outcome == NotAsked && acceptUnsigned
		if c.Outcome != Pass && !excused {
			r.Verified = false
		}
	}
	return r
}
