// Package lustrum_test holds the rules of the house: which room may know
// which, and who may open a connection.
package lustrum_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/lustrum-mcp/lustrum/"

// flow is the order in which data passes through the rooms. A room may import
// those before it and none after it.
var flow = []string{
	"internal/near",
	"crawler",
	"crawler/target",
	"crawler/source",
	"crawler/wire",
	"crawler/mcp",
	"crawler/oauth",
	"crawler/registry",
	"crawler/discover",
	"engine",
	"engine/rubric",
	"engine/text",
	"engine/check",
	"engine/report",
	"attest",
	"attest/sign",
	"attest/store",
	"attest/verify",
	"graph",
	"policies",
	"policies/disclosure",
	"dataset/figures",
	"dataset",
	"site",
	"pipeline",
	"internal/lab",
	"cmd/lustrum",
}

// never lists imports that the order allows and the design forbids.
var never = map[string][]string{
	"attest/verify": {"engine/check", "engine/text", "engine/report", "graph"},
	"internal/lab":  {"pipeline", "engine/check", "attest", "graph"},
	"dataset":       {"crawler/wire", "crawler/mcp"},
	"site":          {"crawler/wire", "crawler/mcp", "attest/sign"},
}

func TestImportsGoOneWay(t *testing.T) {
	for room, imports := range goList(t, "{{.ImportPath}} {{join .Imports \" \"}}") {
		at := slices.Index(flow, room)
		if at < 0 {
			t.Errorf("%s is no room of the house: give it a place in the flow", room)
			continue
		}
		for _, path := range imports {
			other, ok := strings.CutPrefix(path, module)
			if !ok {
				continue
			}
			if to := slices.Index(flow, other); to >= at {
				t.Errorf("%s imports %s, which comes after it in the flow", room, other)
			}
			if slices.Contains(never[room], other) {
				t.Errorf("%s imports %s, which it must not know", room, other)
			}
		}
	}
}

// TestVerifierIsAlone looks at everything the verifier is built from.
func TestVerifierIsAlone(t *testing.T) {
	deps := goList(t, "{{.ImportPath}} {{join .Deps \" \"}}")["attest/verify"]
	if len(deps) == 0 {
		t.Fatal("attest/verify has no dependencies listed")
	}
	for _, path := range deps {
		room := strings.TrimPrefix(path, module)
		if slices.Contains(never["attest/verify"], room) || strings.HasPrefix(path, "github.com/cayleygraph/") ||
			strings.HasPrefix(path, "github.com/duckdb/") || strings.HasPrefix(path, "go.etcd.io/bbolt") {
			t.Errorf("the verifier is built from %s", path)
		}
	}
}

// TestEveryRoomSaysWhatItIsFor asks for a doc.go with a package comment.
func TestEveryRoomSaysWhatItIsFor(t *testing.T) {
	for room := range goList(t, "{{.ImportPath}}") {
		path := filepath.Join(filepath.FromSlash(room), "doc.go")
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Errorf("%s: %v", room, err)
			continue
		}
		if file.Doc == nil || len(file.Doc.Text()) < 80 {
			t.Errorf("%s does not say what the room is for", path)
		}
	}
}

// doors may open connections or listen: the one way out, the signer that will
// talk to a transparency log, the servers of the command and of the lab.
var doors = []string{"crawler/wire", "attest/sign", "cmd/lustrum", "internal/lab"}

// openers are the names that open a connection or a listener.
var openers = map[string][]string{
	"net":  {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialUnix", "DialIP", "Dialer", "Listen", "ListenTCP", "ListenUDP", "ListenUnix", "ListenPacket", "ListenConfig", "Resolver", "DefaultResolver", "LookupHost", "LookupIP", "LookupAddr", "LookupTXT", "LookupCNAME"},
	"http": {"Get", "Head", "Post", "PostForm", "DefaultClient", "DefaultTransport", "Client", "Transport", "ListenAndServe", "ListenAndServeTLS", "Serve", "Server"},
	"tls":  {"Dial", "DialWithDialer", "Dialer", "Listen", "NewListener"},
}

func TestOnlyDoorsOpenConnections(t *testing.T) {
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "build" || d.Name() == "node_modules" || (d.Name() != "." && strings.HasPrefix(d.Name(), "."))) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.Contains(doors, filepath.ToSlash(filepath.Dir(path))) {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && slices.Contains(openers[pkg.Name], sel.Sel.Name) {
				t.Errorf("%s uses %s.%s: only %s open connections", fset.Position(sel.Pos()), pkg.Name, sel.Sel.Name, strings.Join(doors, ", "))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDirectDependenciesAreExplained compares go.mod with the page that says
// what each dependency is for.
func TestDirectDependenciesAreExplained(t *testing.T) {
	page, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{if not (or .Indirect .Main)}}{{.Path}}{{end}}", "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		if !strings.Contains(string(page), "`"+path+"`") {
			t.Errorf("docs/dependencies.md does not say what %s is for", path)
		}
	}
}

// goList runs go list over the module and returns the words of each line by
// room.
func goList(t *testing.T, format string) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", format, "./...").Output()
	if err != nil {
		t.Fatal("go list:", err)
	}
	rooms := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) == 0 || !strings.HasPrefix(words[0], module) {
			continue
		}
		rooms[strings.TrimPrefix(words[0], module)] = words[1:]
	}
	if len(rooms) < 20 {
		t.Fatalf("go list found %d rooms", len(rooms))
	}
	return rooms
}
