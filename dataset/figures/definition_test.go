package figures

import (
	"strings"
	"testing"
)

const good = "-- title: T\n-- unit: endpoints\n-- chart: bars\n-- tables: endpoints\n-- note: One\n--   two.\nSELECT 1\n"

func TestParseDefinition(t *testing.T) {
	d, err := ParseDefinition("a-1", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if d.Title != "T" || d.Unit != "endpoints" || d.Chart != Bars || len(d.Tables) != 1 || d.Tables[0] != "endpoints" || d.Note != "One two." || d.SQL != good {
		t.Errorf("%+v", d)
	}
}

func TestParseDefinitionRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"UPPER", good, "lower-case"},
		{"../x", good, "lower-case"},
		{"", good, "lower-case"},
		{"-x", good, "lower-case"},
		{strings.Repeat("x", 65), good, "lower-case"},
		{"x", "", `no line "-- title: …"`},
		{"x", "SELECT 1", `no line "-- title: …"`},
		{"x", strings.Replace(good, "-- unit: endpoints\n", "", 1), `"chart" where "unit" should be`},
		{"x", strings.Replace(good, "-- unit: endpoints\n", "-- unit: a\n-- unit: b\n", 1), `"unit" where "chart" should be`},
		{"x", strings.Replace(good, "title", "Title", 1), `"Title" where "title" should be`},
		{"x", strings.Replace(good, "-- title: T", "-- title:  ", 1), `"title" is empty`},
		{"x", strings.Replace(good, "-- title", "--title", 1), "not of the form"},
		{"x", strings.Replace(good, "-- title", "--   title", 1), "goes on from nothing"},
		{"x", strings.Replace(good, "bars", "pie", 1), `chart is "pie"`},
		{"x", strings.Replace(good, "tables: endpoints", "tables: secrets", 1), `table "secrets" does not exist`},
		{"x", strings.Replace(good, "tables: endpoints", "tables: tools checks", 1), "alphabetical"},
		{"x", strings.Replace(good, "tables: endpoints", "tables: tools tools", 1), "alphabetical"},
		{"x", strings.Replace(good, "SELECT 1\n", "-- author: me\nSELECT 1\n", 1), "after the end"},
		{"x", strings.Replace(good, "SELECT 1\n", "", 1), "no query"},
		{"x", strings.Replace(good, "SELECT 1\n", " \n\t", 1), "no query"},
		{"x", strings.Replace(good, "T\n", "T\x1b[31m\n", 1), "control character"},
		{"x", strings.Replace(good, "T\n", "T\r\n", 1), "control character"},
		{"x", strings.Replace(good, "T\n", "\xff\n", 1), "UTF-8"},
		{"x", good + strings.Repeat(" ", maxSQL), "over the bound"},
		{"x", strings.Replace(good, "T\n", strings.Repeat("T", maxText+1)+"\n", 1), "longer than"},
	} {
		if _, err := ParseDefinition(c.name, []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %.60q: error %v, want one with %q", c.name, c.text, err, c.want)
		}
	}
}

func FuzzParseDefinition(f *testing.F) {
	f.Add("a", []byte(good))
	f.Add("a", []byte("-- title: \n--   \n--"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		d, err := ParseDefinition(name, text)
		if err != nil {
			return
		}
		for _, v := range []string{d.Title, d.Unit, d.Note} {
			if v == "" || strings.ContainsAny(v, "\n\r\x1b\x00") || len(v) > maxText {
				t.Errorf("accepted the value %q", v)
			}
		}
		if d.SQL != string(text) || !validName(d.Name) {
			t.Errorf("accepted %+v", d)
		}
	})
}

func TestDefinitionsAreWhole(t *testing.T) {
	all, err := Definitions()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range all {
		names = append(names, d.Name)
		if strings.Contains(d.SQL, "edition_tables") {
			t.Errorf("%s reads past its header", d.Name)
		}
	}
	got := strings.Join(names, " ")
	for _, want := range []string{"outcomes", "authentication", "era", "grades", "check-failures"} {
		if !strings.Contains(got, want) {
			t.Errorf("no figure %s among %s", want, got)
		}
	}
}
