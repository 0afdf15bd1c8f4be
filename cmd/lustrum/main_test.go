package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary the command itself where a test starts it as
// a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("LUSTRUM_TEST_RUN") == "1" {
		main()
		return
	}
	testscript.Main(m, map[string]func(){
		"lustrum": main,
	})
}

// TestScripts runs every script in testdata/script: commands, what they print
// and their exit codes, as a person at a terminal would see them.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "share"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exit": exitCode,
		},
	})
}

// exitCode runs a command and asks for its exit code: exit 2 lustrum …
func exitCode(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND [ARG…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		var coded interface{ ExitCode() int }
		if ok := asExit(err, &coded); !ok {
			ts.Fatalf("%v", err)
		}
		got = coded.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

func asExit(err error, target *interface{ ExitCode() int }) bool {
	for err != nil {
		if coded, ok := err.(interface{ ExitCode() int }); ok {
			*target = coded
			return true
		}
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return false
		}
		err = u.Unwrap()
	}
	return false
}

// lustrum runs a command in this process and asks for its exit code; it
// returns what was printed.
func lustrum(t *testing.T, want int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(args, &stdout, &stderr); got != want {
		t.Fatalf("lustrum %q: exit %d, want %d\n%s%s", args, got, want, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String()
}

// treeOf is a digest over the names and contents of every file below dir.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(sum, "%s %x\n", rel, sha256.Sum256(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
