package figures

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/gowebpki/jcs"
)

// Encode returns the set as canonical JSON (RFC 8785): equal sets are equal
// bytes. Numbers are written without an exponent and without trailing zeros.
func Encode(s *Set) ([]byte, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("write the figures of %q: %w", s.Edition, err)
	}
	plain, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the figures of %q: %w", s.Edition, err)
	}
	out, err := jcs.Transform(plain)
	if err != nil {
		return nil, fmt.Errorf("bring the figures of %q into canonical form: %w", s.Edition, err)
	}
	if len(out) > maxFile {
		return nil, fmt.Errorf("the figures of %q take %d bytes, over the bound of %d", s.Edition, len(out), maxFile)
	}
	return out, nil
}

// CSV returns a figure's rows with a header line (RFC 4180, but with LF). Null
// is an empty cell. Text is made inert for spreadsheets and terminals: control
// and format characters are shown by their code points, as \u{1B}, and text
// that a spreadsheet would take for a formula gets an apostrophe in front.
// Numbers are left as they are, in the spelling of figures.json.
func CSV(f *Figure) ([]byte, error) {
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	line := make([]string, len(f.Columns))
	for i, c := range f.Columns {
		line[i] = inert(c)
	}
	if err := w.Write(line); err != nil {
		return nil, fmt.Errorf("write the figure %q as CSV: %w", f.Name, err)
	}
	for _, row := range f.Rows {
		line = line[:0]
		for _, v := range row {
			line = append(line, plain(v))
		}
		if err := w.Write(line); err != nil {
			return nil, fmt.Errorf("write the figure %q as CSV: %w", f.Name, err)
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return nil, fmt.Errorf("write the figure %q as CSV: %w", f.Name, err)
	}
	return buf.Bytes(), nil
}

func plain(v any) string {
	switch x := v.(type) {
	case string:
		return inert(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(x)
	}
	return ""
}

// inert is text that no spreadsheet runs and no terminal obeys
// (https://owasp.org/www-community/attacks/CSV_Injection).
func inert(s string) string {
	var b strings.Builder
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		b.WriteByte('\'')
	}
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			fmt.Fprintf(&b, "\\u{%X}", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
