package attest

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"
)

// The digests are those that sha256sum prints of "one\n" and "two\n".
const (
	sumOne = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806"
	sumTwo = "27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a"
)

func TestSums(t *testing.T) {
	got, err := Sums(fstest.MapFS{
		"b/two.txt":                  {Data: []byte("two\n")},
		"a.txt":                      {Data: []byte("one\n")},
		SumsFile:                     {Data: []byte("not in its own list")},
		ReleaseFile:                  {Data: []byte("nor this")},
		ReleaseFile + BundleSuffix:   {Data: []byte("nor this")},
		"b/" + SumsFile:              {Data: []byte("one\n")},
		"editions/x/" + EditionFile:  {Data: []byte("two\n")},
		"statements/aa/" + SumsFile:  {Data: []byte("one\n")},
		"statements/aa/release.json": {Data: []byte("two\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := sumOne + "  a.txt\n" + sumOne + "  b/SHA256SUMS\n" + sumTwo + "  b/two.txt\n" + sumTwo + "  editions/x/edition.json\n" +
		sumOne + "  statements/aa/SHA256SUMS\n" + sumTwo + "  statements/aa/release.json\n"
	if string(got) != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	parsed, err := ParseSums(bytes.NewReader(got))
	if err != nil || len(parsed) != 6 || parsed["a.txt"] != sumOne || parsed["b/two.txt"] != sumTwo {
		t.Errorf("%v, %v", parsed, err)
	}
}

func TestParseSumsRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no end":       sumOne + "  a.txt",
		"short digest": sumOne[1:] + "  a.txt\n",
		"upper case":   strings.ToUpper(sumOne) + "  a.txt\n",
		"one space":    sumOne + " a.txt\n",
		"outside":      sumOne + "  ../a.txt\n",
		"absolute":     sumOne + "  /a.txt\n",
		"twice":        sumOne + "  a.txt\n" + sumTwo + "  a.txt\n",
		"an empty row": "\n",
	} {
		if got, err := ParseSums(strings.NewReader(text)); err == nil {
			t.Errorf("%s: read as %v", name, got)
		}
	}
}

func TestReleaseStatement(t *testing.T) {
	raw, err := EncodeRelease("2026-12-01", []byte("one\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"_type":"https://in-toto.io/Statement/v1","predicate":{"edition":"2026-12-01"},"predicateType":"` + ReleaseType +
		`","subject":[{"digest":{"sha256":"` + sumOne + `"},"name":"SHA256SUMS"}]}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
	if _, err := DecodeRelease(raw); err != nil {
		t.Error(err)
	}
	for name, change := range map[string][2]string{
		"a space":         {`,"predicate":`, `, "predicate":`},
		"another type":    {"Statement/v1", "Statement/v2"},
		"an unknown word": {`{"edition"`, `{"also":1,"edition"`},
		"another subject": {`"name":"SHA256SUMS"`, `"name":"SHA256SUM"`},
		"another digest":  {`"sha256"`, `"sha512"`},
	} {
		if _, err := DecodeRelease([]byte(strings.Replace(want, change[0], change[1], 1))); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func FuzzDecodeRelease(f *testing.F) {
	raw, err := EncodeRelease("2026-12-01", nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"subject":[{"digest":null}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		// What is taken is what would be written.
		if s, err := DecodeRelease(b); err == nil && !strings.Contains(string(b), s.Subject[0].Digest["sha256"]) {
			t.Errorf("%q", b)
		}
	})
}

func FuzzParseSums(f *testing.F) {
	f.Add([]byte(sumOne + "  a.txt\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		sums, err := ParseSums(bytes.NewReader(b))
		if err == nil && len(sums) != bytes.Count(b, []byte("\n")) {
			t.Errorf("%d files of %q", len(sums), b)
		}
	})
}
