package site

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/dataset"
	"github.com/lustrum-mcp/lustrum/engine/check"
	"golang.org/x/sync/errgroup"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets/*
var assetFiles embed.FS

// Layout of the published folder, relative to its root. Build writes the
// pages; the edition, the statements and the key stand beside them.
const (
	serversDir  = "servers"
	assetsDir   = "assets"
	keyPath     = "keys/lustrum.pub"
	editionsDir = "editions/edition="
)

// csp keeps every page to itself: nothing is loaded from elsewhere, and no
// style or script that stands in a page is honoured
// (https://www.w3.org/TR/CSP3/).
const csp = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"

// site is one build.
type site struct {
	dir    string
	in     Input
	pages  map[string]*template.Template
	listed map[string][]dataset.Listing // by endpoint id
	byID   map[string]*dataset.Record
	view   map[string]*serverView
	order  []*serverView // by name, as the list shows them

	violations map[string][]Violation // by endpoint id
	// published holds the digests of the statements of this edition: no other
	// is linked to, since no other need be there.
	published map[string]bool
}

// Build writes the site of an edition into dir, an existing folder that holds
// none of its pages yet: a file that is there already is an error and is left
// alone. A build that fails leaves what it wrote; give a folder of its own and
// publish it by renaming.
func Build(dir string, in Input) error {
	if err := in.validate(); err != nil {
		return fmt.Errorf("build the site: %w", err)
	}
	s, err := newSite(dir, in)
	if err != nil {
		return fmt.Errorf("build the site: %w", err)
	}
	for _, step := range []func() error{
		s.makeFolders, s.writeAssets, s.writeStart, s.writeServers, s.writeMethod, s.writePolicies, s.writeEditions, s.writeEnds, s.writeCards,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("build the site: %w", err)
		}
	}
	return nil
}

func newSite(dir string, in Input) (*site, error) {
	if in.Lookup == nil {
		in.Lookup = check.Lookup
	}
	s := &site{
		dir: dir, in: in, pages: map[string]*template.Template{},
		listed: map[string][]dataset.Listing{}, byID: map[string]*dataset.Record{}, view: map[string]*serverView{},
		published: map[string]bool{},
	}
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, path := range names {
		base := filepath.Base(path)
		if base == "layout.html" {
			continue
		}
		t, err := template.New("layout.html").Funcs(template.FuncMap{"count": count[int]}).ParseFS(templateFiles, "templates/layout.html", path)
		if err != nil {
			return nil, err
		}
		s.pages[base] = t
	}
	for _, l := range in.Edition.Listings {
		if l.EndpointID != "" {
			s.listed[l.EndpointID] = append(s.listed[l.EndpointID], l)
		}
	}
	for i := range in.Edition.Records {
		r := &in.Edition.Records[i]
		s.byID[r.ID] = r
		s.published[r.Digest] = true
		s.view[r.ID] = s.server(r)
	}
	s.order = ordered(s.view)
	s.violations = sortViolations(in.Violations, func(id string) bool { return s.byID[id] != nil })
	return s, nil
}

// page is what every template gets.
type page struct {
	Title     string
	Root      string // "" or "../": the way to the root of the site
	Here      string // path of the page, for the navigation
	CSP       string
	Edition   string
	Private   bool
	Version   string
	Contact   string
	Registry  string
	Statement string // path of the machine-readable twin; empty without one
	Body      any
}

func (s *site) page(path, title string, body any) page {
	e := s.in.Edition
	return page{
		Title: title, Root: strings.Repeat("../", strings.Count(path, "/")), Here: path, CSP: csp,
		Edition: e.ID, Private: e.Audience == audienceOwner, Version: name(s.in.Version),
		Contact: link(e.Contact), Registry: line(e.Registry), Body: body,
	}
}

// render writes one page from a template.
func (s *site) render(template, path, title string, body any) error {
	return s.renderPage(template, path, s.page(path, title, body))
}

func (s *site) renderPage(template, path string, p page) error {
	var b bytes.Buffer
	if err := s.pages[template].Execute(&b, p); err != nil {
		return fmt.Errorf("page %q: %w", path, err)
	}
	return s.write(path, b.Bytes())
}

func (s *site) makeFolders() error {
	folders := []string{serversDir, assetsDir}
	if len(s.in.PublicKeyPEM) > 0 {
		folders = append(folders, filepath.Dir(filepath.FromSlash(keyPath)))
	}
	for _, folder := range folders {
		if err := os.MkdirAll(filepath.Join(s.dir, folder), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// write makes a new file in the site or one of its folders.
func (s *site) write(path string, content []byte) error {
	full := filepath.Join(s.dir, filepath.FromSlash(path))
	f, err := os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

func (s *site) writeAssets() error {
	return fs.WalkDir(assetFiles, assetsDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := assetFiles.ReadFile(path)
		if err != nil {
			return err
		}
		return s.write(path, content)
	})
}

// writeCards writes a page and a JSON file for each server, on every core.
func (s *site) writeCards() error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, v := range s.order {
		group.Go(func() error {
			card := s.card(v)
			path := serversDir + "/" + v.ID
			p := s.page(path+".html", v.Name, card)
			p.Statement = v.ID + ".json"
			if err := s.renderPage("server.html", path+".html", p); err != nil {
				return err
			}
			raw, err := encode(s.record(v))
			if err != nil {
				return fmt.Errorf("record %q: %w", v.ID, err)
			}
			return s.write(path+".json", raw)
		})
	}
	return group.Wait()
}

// writeEnds writes what stands at the edges: the page for a wrong address, the
// rules for crawlers, the index for programs and the key.
func (s *site) writeEnds() error {
	robots := "User-agent: *\nAllow: /\n"
	if s.in.Edition.Audience == audienceOwner {
		robots = "User-agent: *\nDisallow: /\n"
	}
	index, err := encode(s.index())
	if err != nil {
		return err
	}
	if err := errors.Join(
		s.render("404.html", "404.html", "Not found", nil),
		s.write("robots.txt", []byte(robots)),
		s.write("index.json", index),
	); err != nil {
		return err
	}
	if len(s.in.PublicKeyPEM) > 0 {
		return s.write(keyPath, s.in.PublicKeyPEM)
	}
	return nil
}

// check finds what the catalogue says about a check; an unknown one has its id
// for a title.
func (s *site) check(id string) Check {
	if c, ok := s.in.Lookup(id); ok {
		return c
	}
	return Check{ID: id, Title: line(id)}
}

// statementPath is where a statement is published, relative to the root.
func statementPath(digest string) string { return attest.StatementPath(digest) }
