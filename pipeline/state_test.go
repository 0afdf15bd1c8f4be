package pipeline

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs", "a.ndjson")
	j, err := openJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range [][2]string{{"e1", "d1"}, {"e2", "d2"}} {
		if err := j.add(line[0], line[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}

	t.Run("a line that a crash cut short is dropped", func(t *testing.T) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(`{"endpoint":"e3","state`); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		j, err := openJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"e1": "d1", "e2": "d2"}; !maps.Equal(j.done, want) {
			t.Errorf("read %v, want %v", j.done, want)
		}
		if err := j.add("e3", "d3"); err != nil {
			t.Fatal(err)
		}
		if err := j.close(); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"endpoint":"e1","statement":"d1"}
{"endpoint":"e2","statement":"d2"}
{"endpoint":"e3","statement":"d3"}
`
		if string(raw) != want {
			t.Errorf("the file holds\n%swant\n%s", raw, want)
		}
	})

	t.Run("a damaged line is named", func(t *testing.T) {
		if err := os.WriteFile(path, []byte("{\"endpoint\":\"e1\",\"statement\":\"d1\"}\nnonsense\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := openJournal(path); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("error %v does not name line 2", err)
		}
	})
}

func TestLockIsExclusive(t *testing.T) {
	data := t.TempDir()
	release, err := lock(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(data); err == nil || !strings.Contains(err.Error(), "--data") {
		t.Errorf("a second lock: %v", err)
	}
	release()
	again, err := lock(data)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
