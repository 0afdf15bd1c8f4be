package policies

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// MaxFile bounds a policy file, in bytes.
const MaxFile = 1 << 20

// Decode reads exactly one YAML document strictly: an unknown or repeated key
// is an error, and every error names file and line.
func Decode(file string, data []byte, into any) error {
	if len(data) > MaxFile {
		return fmt.Errorf("%s: the file is %d bytes long, over the bound of %d", file, len(data), MaxFile)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: the file is empty", file)
		}
		return located(file, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: the file holds more than one document", file)
	}
	return nil
}

var (
	yamlLine  = regexp.MustCompile(`line (\d+): (.*)`)
	yamlField = regexp.MustCompile(`^field (\S+) not found in type \S+$`)
)

// located puts an error of the YAML reader as FILE:LINE: CAUSE. Of several it
// gives the first.
func located(file string, err error) error {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	cause := m[2]
	if f := yamlField.FindStringSubmatch(cause); f != nil {
		cause = fmt.Sprintf("unknown key %q", f[1])
	}
	return fmt.Errorf("%s:%s: %s", file, m[1], cause)
}

// Text is a string that knows the line it stands on.
type Text struct {
	Value string
	Line  int
}

// UnmarshalYAML reads a scalar.
func (t *Text) UnmarshalYAML(n *yaml.Node) error {
	t.Line = n.Line
	return n.Decode(&t.Value)
}
