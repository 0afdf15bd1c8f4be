package pipeline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/lustrum-mcp/lustrum/crawler/registry"
)

// lock takes the data directory for this process: two runs on one directory
// would check everything twice.
func lock(data string) (release func(), err error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w: choose another with --data DIR", err)
	}
	l := flock.New(filepath.Join(data, "lock"))
	held, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data directory %q: %w", data, err)
	}
	if !held {
		return nil, fmt.Errorf("the data directory %q is in use by another lustrum process: wait for it to end, or choose another with --data DIR", data)
	}
	return func() { l.Unlock() }, nil //nolint:errcheck // the file goes with the process
}

// journal is what one edition of one slice has checked so far: a line per
// endpoint, written after its statement is safe on disk.
type journal struct {
	file *os.File
	done map[string]string // endpoint id to statement digest
}

type journalLine struct {
	Endpoint  string `json:"endpoint"`
	Statement string `json:"statement"`
}

// openJournal reads what is there. A last line that a crash cut short is
// dropped, and the endpoint is checked again.
func openJournal(path string) (*journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the run's state directory: %w", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the run's journal: %w", err)
	}
	j := &journal{done: map[string]string{}}
	whole := bytes.LastIndexByte(raw, '\n') + 1
	scanner := bufio.NewScanner(bytes.NewReader(raw[:whole]))
	for n := 1; scanner.Scan(); n++ {
		var line journalLine
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil || line.Endpoint == "" || line.Statement == "" {
			return nil, fmt.Errorf("the run's journal %q is damaged at line %d: delete the file to check this edition again", path, n)
		}
		j.done[line.Endpoint] = line.Statement
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("read the run's journal %q: %w", path, err)
	}
	j.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the run's journal: %w", err)
	}
	if err := errors.Join(j.file.Truncate(int64(whole)), seekEnd(j.file)); err != nil {
		return nil, errors.Join(fmt.Errorf("open the run's journal %q: %w", path, err), j.file.Close())
	}
	return j, nil
}

func seekEnd(f *os.File) error {
	_, err := f.Seek(0, 2)
	return err
}

// add records one endpoint and returns when the line is on disk.
func (j *journal) add(endpoint, digest string) error {
	raw, err := json.Marshal(journalLine{endpoint, digest})
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("write the run's journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("write the run's journal: %w", err)
	}
	j.done[endpoint] = digest
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// writeFile replaces a file in one step: the reader sees the old bytes or the
// new ones.
func writeFile(path string, data []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// keepPages keeps the registry's answers as they were served, by digest: what
// was listed can be shown later.
func keepPages(data string, slice *registry.Slice) error {
	for _, p := range slice.Pages {
		path := filepath.Join(data, "listings", p.SHA256+".json")
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := writeFile(path, p.Body, 0o600); err != nil {
			return fmt.Errorf("keep a page of the registry: %w", err)
		}
	}
	return nil
}

// progress prints lines like "12 of 40 checked" at most once a second.
type progress struct {
	c    Config
	last time.Time
}

func (p *progress) say(done, total int, started time.Time) {
	now := p.c.Now()
	if done < total && now.Sub(p.last) < time.Second {
		return
	}
	p.last = now
	line := fmt.Sprintf("checked %d of %d", done, total)
	if spent := now.Sub(started); done > 0 && done < total && spent > time.Second {
		left := spent / time.Duration(done) * time.Duration(total-done)
		line += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	fmt.Fprintln(p.c.Progress, line)
}
