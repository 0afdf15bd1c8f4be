package check

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// proven is every status that a test brought about, by check. Reports come in
// through wellFormed.
var proven = map[string]map[Status]bool{}

func prove(f Finding) {
	if proven[f.ID] == nil {
		proven[f.ID] = map[Status]bool{}
	}
	proven[f.ID][f.Status] = true
}

// A whole run of the tests must have shown every status that the catalogue
// promises, for every check: a rule that no server in the tests can bring
// about is a rule that nobody has tried.
func TestMain(m *testing.M) {
	code := m.Run()
	whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.fuzz").Value.String() == "" &&
		flag.Lookup("test.list").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""
	if code == 0 && whole {
		for _, meta := range Catalogue() {
			for _, s := range []Status{rubric.Pass, rubric.Warn, rubric.Fail, rubric.Skip, rubric.Info} {
				if _, promised := meta.Outcomes[s]; promised && !proven[meta.ID][s] {
					fmt.Printf("no test brings about %s of %s\n", s, meta.ID)
					code = 1
				}
			}
		}
	}
	os.Exit(code)
}
