package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// MaxFile bounds a source file, in bytes.
const MaxFile = target.MaxTargetsFile

// Reasons why a server that a file names is no target.
const (
	Program     = "program"     // it is started, not contacted
	Disabled    = "disabled"    // the file switches it off
	Placeholder = "placeholder" // the address holds a variable; it is not resolved
	NoAddress   = "no address"  // a label selector, an OpenAPI document, an entry without a URL
)

// Skipped is a server that a file names and that is no target.
type Skipped struct {
	Source string `json:"source"` // "file:line"
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// File is what one file names.
type File struct {
	Targets []target.Target // Sources are "file:line (name)"
	Skipped []Skipped
	Notes   []string // what a reader should know, such as dropped secrets
}

// Targets reads a targets file, see target.ReadTargets.
func Targets(path string) (*File, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	targets, err := target.ReadTargets(path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		if t.UserInfo {
			return nil, fmt.Errorf("%s: %w: take them out", t.Sources[0], target.ErrUserInfo)
		}
	}
	f := &File{}
	for _, t := range targets {
		for i, path := range t.Paths {
			clean, gone := target.WithoutSecrets(path)
			if len(gone) > 0 {
				t.Paths[i] = clean
				f.Notes = append(f.Notes, dropped(t.Sources[0], gone))
			}
		}
		f.Targets = append(f.Targets, t)
	}
	return f, nil
}

func dropped(where string, params []string) string {
	return fmt.Sprintf("%s: asked without the parameter %q: discovery has no credentials", where, strings.Join(params, ", "))
}

// read reads a whole file of text. Only a regular file is read, or what stands
// under /dev/fd and at /dev/stdin: a pipe that somebody left lying about would
// be waited for without end.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read a source: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("read a source: %q is a directory: name the file in it", path)
	case !info.Mode().IsRegular() && path != "/dev/stdin" && !strings.HasPrefix(path, "/dev/fd/"):
		return nil, fmt.Errorf("read a source: %q is no regular file (%s)", path, info.Mode().Type())
	case info.Mode().IsRegular() && info.Size() > MaxFile:
		return nil, fmt.Errorf("read a source: %q is %d bytes long, over the bound of %d", path, info.Size(), int64(MaxFile))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read a source: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read a source: %w", err)
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("read a source: %q is over the bound of %d bytes", path, int64(MaxFile))
	}
	return data, nil
}

// text takes the byte order mark off a file that has to be UTF-8.
func text(path string, data []byte) ([]byte, error) {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return nil, fmt.Errorf("%s: the file is UTF-16 text: save it as UTF-8", path)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s: the file is not UTF-8 text", path)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s: the file is empty", path)
	}
	return data, nil
}
