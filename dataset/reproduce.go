package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/verify"
)

// Sameness is how one part of an edition came out.
type Sameness string

// Outcomes of an Item.
const (
	Same      Sameness = "same"
	Different Sameness = "different"
	NotAsked  Sameness = "not asked" // it was not looked at; the detail says why
)

// Kinds of an Item, in the order they are judged.
const (
	Criterion = "criterion" // of attest/verify, by its name there
	TableFile = "table"     // a Parquet file against edition.json
	Figure    = "figure"    // a figure against its SQL, run again
)

// Item is one part of an edition and how it came out. Detail can quote what
// the edition says; escape it where it is shown.
type Item struct {
	Edition string   `json:"edition"` // YYYY-MM-DD, as the folder is named or the statement says
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Outcome Sameness `json:"outcome"`
	Detail  string   `json:"detail,omitempty"` // the first difference
}

// Reproduction is the outcome of Reproduce.
type Reproduction struct {
	Root     string   `json:"root"`
	Editions []string `json:"editions"` // oldest first
	Items    []Item   `json:"items"`
	Notes    []string `json:"notes,omitempty"` // what was not asked and what to do about it, each once
}

// Different reports whether any part of any edition differs.
func (r *Reproduction) Different() bool {
	return slices.ContainsFunc(r.Items, func(i Item) bool { return i.Outcome == Different })
}

// ReproduceOptions are what the caller trusts.
type ReproduceOptions struct {
	Key []byte    // public key in PEM that must have signed; without one, keys/*.pub of the folder
	Now time.Time // the clock that times are held against; zero: the machine's
}

// Reproduce proves what is published in root: a folder that holds
// editions/edition=DAY/ (all of them are proved), or the folder of one
// edition. For each edition it verifies edition.json and everything listed
// there, and runs every figure's SQL again over the tables; each result is
// held against figures.json, figures/NAME.csv and figures/NAME.sql byte for
// byte.
//
// An error means that this could not be done: no edition there, no key, ctx
// ended. A damaged edition is not an error but a difference. Without cgo the
// figures are not asked, and a note says so.
func Reproduce(ctx context.Context, root string, o ReproduceOptions) (*Reproduction, error) {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	folder, editions, err := find(root)
	if err != nil {
		return nil, fmt.Errorf("reproduce %q: %w", root, err)
	}
	r := &Reproduction{Root: root}
	options, err := r.trust(folder, o)
	if err != nil {
		return nil, fmt.Errorf("reproduce %q: %w", root, err)
	}
	if whole := !isFile(filepath.Join(root, attest.EditionFile)); whole {
		if err := r.release(ctx, folder, options); err != nil {
			return nil, fmt.Errorf("reproduce %q: %w", root, err)
		}
	}
	for _, dir := range editions {
		one := &edition{r: r, dir: dir, name: strings.TrimPrefix(filepath.Base(dir), editionPrefix)}
		if err := one.prove(ctx, folder, options); err != nil {
			return nil, fmt.Errorf("reproduce the edition %q: %w", dir, err)
		}
		r.Editions = append(r.Editions, one.name)
	}
	return r, nil
}

// The published folder, as far as it matters here.
const (
	editionsDir   = "editions"
	editionPrefix = "edition="
	keysPattern   = "keys/*.pub"
)

// find tells a published folder from the folder of one edition, and returns
// the published folder and the editions, oldest first.
func find(root string) (folder string, editions []string, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return "", nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", nil, err
	}
	if isFile(filepath.Join(root, attest.EditionFile)) {
		return filepath.Dir(filepath.Dir(root)), []string{root}, nil
	}
	entries, err := os.ReadDir(filepath.Join(root, editionsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	for _, e := range entries { // sorted by name
		if e.IsDir() && strings.HasPrefix(e.Name(), editionPrefix) {
			editions = append(editions, filepath.Join(root, editionsDir, e.Name()))
		}
	}
	if len(editions) == 0 {
		return "", nil, fmt.Errorf("there is neither %s nor %s/%s… in it: name a published folder or the folder of one edition", attest.EditionFile, editionsDir, editionPrefix)
	}
	return root, editions, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// trust picks the keys: the caller's, or the published ones, which prove that
// the edition is whole but not whose it is.
func (r *Reproduction) trust(folder string, o ReproduceOptions) (verify.Options, error) {
	options := verify.Options{Now: o.Now}
	if o.Key != nil {
		key, err := verify.ParseKey(o.Key)
		if err != nil {
			return options, fmt.Errorf("read the key given: %w", err)
		}
		options.Keys = []verify.Key{key}
		return options, nil
	}
	published, err := fs.Glob(os.DirFS(folder), keysPattern)
	if err != nil {
		return options, err
	}
	for _, path := range published {
		key, err := verify.LoadKey(filepath.Join(folder, filepath.FromSlash(path)))
		if err != nil {
			return options, err
		}
		options.Keys = append(options.Keys, key)
	}
	if len(options.Keys) == 0 {
		options.AcceptUnsigned = true
		r.note("no public key was given and none is published beside the editions, so signatures were not asked for: give --key FILE")
		return options, nil
	}
	r.note("the signatures were verified with the key that is published beside the editions, which proves that they are whole but not whose they are: give --key FILE with a key from elsewhere")
	return options, nil
}

func (r *Reproduction) note(text string) {
	if !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// edition is one edition that is being proved.
type edition struct {
	r         *Reproduction
	dir, name string
	damaged   bool // a table is not what was signed
}

func (e *edition) add(kind, name string, outcome Sameness, detail string) {
	e.r.Items = append(e.r.Items, Item{Edition: e.name, Kind: kind, Name: name, Outcome: outcome, Detail: detail})
}

func (e *edition) prove(ctx context.Context, folder string, o verify.Options) error {
	if _, err := os.Stat(filepath.Join(e.dir, attest.StatementsDir)); errors.Is(err, fs.ErrNotExist) {
		o.Statements = folder
	}
	v, err := verify.Edition(ctx, e.dir, o)
	if err != nil {
		return err
	}
	if v.Edition != nil {
		e.name = v.Edition.Predicate.Edition
	}
	for _, c := range v.Criteria {
		e.add(Criterion, c.Name, sameness(c.Outcome), c.Detail)
	}
	if v.Edition == nil {
		return nil // what it lists is not known, and the criterion says so
	}
	if err := e.previous(v.Edition); err != nil {
		return err
	}
	e.tables(v.Edition)
	return e.figures(ctx, v.Edition)
}

// tables holds each table against the digest that was signed.
func (e *edition) tables(signed *attest.EditionStatement) {
	for _, t := range Tables() {
		name := t.Name + Ext
		want := listed(signed, name)
		got, err := attest.FileDigest(os.DirFS(e.dir), name)
		switch {
		case err != nil:
			e.damaged = true
			e.add(TableFile, name, Different, err.Error())
		case want == "":
			e.damaged = true
			e.add(TableFile, name, Different, "edition.json does not list it")
		case got != want:
			e.damaged = true
			e.add(TableFile, name, Different, fmt.Sprintf("its SHA-256 is %s, not the %s that edition.json lists", got, want))
		default:
			e.add(TableFile, name, Same, "")
		}
	}
}

func listed(signed *attest.EditionStatement, name string) string {
	for _, s := range signed.Subject {
		if s.Name == name {
			return s.Digest["sha256"]
		}
	}
	return ""
}
