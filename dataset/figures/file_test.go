package figures

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func sample(t testing.TB) *Set {
	t.Helper()
	d, err := ParseDefinition("a", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	f := d.figure(map[string]Input{"endpoints": {Table: "endpoints", SHA256: strings.Repeat("ab", 32), Rows: 10}})
	f.Columns = []string{"label", "count", "share", "sure"}
	f.Rows = [][]any{
		{"=1+1", int64(-8), 0.8, true},
		{"two\nlines, \"quoted\"", int64(0), nil, false},
		{"\x1b[31mred", nil, 1.0, nil},
		{"@\u202ex", int64(1), 0.000001, nil},
		{"\t-", int64(1), 0.0, nil},
	}
	return &Set{Edition: "2026-01-11", Figures: []Figure{f}}
}

func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	s := sample(t)
	if err := Write(dir, s); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, s) {
		t.Errorf("read  %#v\nwrote %#v", got, s)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "figures.json"))
	if err != nil {
		t.Fatal(err)
	}
	// RFC 8785: members in order, numbers in their shortest spelling.
	want := `"rows":[["=1+1",-8,0.8,true],["two\nlines, \"quoted\"",0,null,false],["\u001b[31mred",null,1,null],["@` + "\u202e" + `x",1,0.000001,null],["\t-",1,0,null]]`
	if !strings.Contains(string(raw), want) || !strings.HasPrefix(string(raw), `{"edition":"2026-01-11","figures":[{"chart":"bars","columns":[`) {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
	table, err := os.ReadFile(filepath.Join(dir, "figures", "a.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(table), "label,count,share,sure\n"+
		"'=1+1,-8,0.8,true\n"+
		"\"two\\u{A}lines, \"\"quoted\"\"\",0,,false\n"+
		"\\u{1B}[31mred,,1,\n"+
		"'@\\u{202E}x,1,0.000001,\n"+
		"'\\u{9}-,1,0,\n"; got != want {
		t.Errorf("CSV:\n%s\nwant\n%s", got, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "figures", "a.sql"))
	if err != nil || string(text) != good {
		t.Errorf("SQL %q, %v", text, err)
	}
	if err := Write(dir, s); err == nil {
		t.Error("written over figures that stand there")
	}
}

func TestDecodeRefuses(t *testing.T) {
	raw, err := Encode(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	whole := string(raw)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "not a set"},
		{"null", "null", "is no day"},
		{"an unknown member", strings.Replace(whole, `{"edition"`, `{"author":"me","edition"`, 1), "unknown field"},
		{"a member twice", strings.Replace(whole, `"edition":"2026-01-11"`, `"edition":"2026-01-12","edition":"2026-01-11"`, 1), "canonical"},
		{"a space", whole + " ", "canonical"},
		{"more after it", whole + whole, "canonical"},
		{"an exponent", strings.Replace(whole, "0.8", "8e-1", 1), "canonical"},
		{"too many decimals", strings.Replace(whole, "0.8", "0.8000001", 1), "6 decimals"},
		{"a number beyond JSON", strings.Replace(whole, "-8,", "-90071992547409930,", 1), "exact"},
		{"a cell that is a list", strings.Replace(whole, "-8,", "[1],", 1), "cast it"},
		{"a row that is short", strings.Replace(whole, "-8,", "", 1), "cells"},
		{"another title", strings.Replace(whole, `"title":"T"`, `"title":"U"`, 1), "header of its SQL"},
		{"another SQL", strings.Replace(whole, "SELECT 1", "SELECT 2", 1), "digest of its SQL"},
		{"a name that climbs", strings.Replace(whole, `"name":"a"`, `"name":"../a"`, 1), "lower-case"},
		{"inputs of another table", strings.Replace(whole, `"table":"endpoints"`, `"table":"tools"`, 1), "inputs are"},
		{"a digest that is none", strings.Replace(whole, "abab", "zzzz", 1), "SHA-256"},
		{"two columns of one name", strings.Replace(whole, `"sure"`, `"share"`, 1), "two columns"},
		{"rows that are null", whole[:strings.Index(whole, `"rows":[`)] + `"rows":null` + whole[strings.Index(whole, `,"sql":`):], "missing"},
		{"no day", strings.Replace(whole, "2026-01-11", "2026-13-11", 1), "is no day"},
		{"too much", strings.Repeat(" ", maxFile+1), "over the bound"},
	} {
		if s, err := Decode([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, error %v, want one with %q", c.name, s, err, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	raw, err := Encode(sample(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"edition":"2026-01-11","figures":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Decode(raw)
		if err != nil {
			return
		}
		again, err := Encode(s)
		if err != nil || string(again) != string(raw) {
			t.Errorf("%q is read and written as %q, %v", raw, again, err)
		}
		for i := range s.Figures {
			table, err := CSV(&s.Figures[i])
			if err != nil {
				t.Error(err)
			}
			if strings.ContainsAny(string(table), "\x1b\x00\r\t\u202e") {
				t.Errorf("the CSV is not inert: %q", table)
			}
		}
	})
}

func TestRound(t *testing.T) {
	for in, want := range map[float64]string{0.1234565: "0.123457", -0.0000001: "0", 1: "1", 2.0 / 3: "0.666667", 1e-6: "0.000001"} {
		got, err := cell("share", in)
		if err != nil || plain(got) != want {
			t.Errorf("%v is written %q, %v, want %q", in, plain(got), err, want)
		}
	}
}
