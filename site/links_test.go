package site

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// published are the paths that the dataset, the signer and the store write
// beside the site: the only links that may lead to a file Build did not write.
func published(in Input) map[string]bool {
	folder := "editions/edition=2026-12-01/"
	all := map[string]bool{}
	for _, name := range []string{"edition.json", "edition.json.sigstore.json", "SHA256SUMS"} {
		all["editions/edition=2026-11-01/"+name] = true
	}
	for _, name := range []string{"endpoints.parquet", "listings.parquet", "checks.parquet", "tools.parquet", "figures.json", "edition.json", "edition.json.sigstore.json", "SHA256SUMS", "README.md"} {
		all[folder+name] = true
	}
	for _, f := range in.Figures.Figures {
		all[folder+"figures/"+f.Name+".csv"], all[folder+"figures/"+f.Name+".sql"] = true, true
	}
	for _, r := range in.Edition.Records {
		p := "statements/" + r.Digest[:2] + "/" + r.Digest + ".json"
		all[p], all[p+".sigstore.json"] = true, true
	}
	return all
}

func TestEveryInternalLinkResolves(t *testing.T) {
	in := fixture(t)
	all := files(t, build(t, in))
	beside := published(in)
	used := map[string]bool{}
	ids := map[string]map[string]bool{}
	for name, content := range all {
		if strings.HasSuffix(name, ".html") {
			ids[name] = map[string]bool{}
			for n := range parse(t, content).Descendants() {
				if id := attr(n, "id"); id != "" {
					if ids[name][id] {
						t.Errorf("%s: the id %q stands twice", name, id)
					}
					ids[name][id] = true
				}
			}
		}
	}
	for name, content := range all {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for n := range parse(t, content).Descendants() {
			for _, key := range []string{"href", "src"} {
				raw := attr(n, key)
				if raw == "" {
					continue
				}
				u, err := url.Parse(raw)
				if err != nil {
					t.Errorf("%s: %q: %v", name, raw, err)
					continue
				}
				if u.IsAbs() || u.Host != "" {
					if n.Data != "a" {
						t.Errorf("%s: <%s> loads %q from elsewhere", name, n.Data, raw)
					}
					if u.Scheme != "http" && u.Scheme != "https" {
						t.Errorf("%s: a link of scheme %q", name, u.Scheme)
					}
					if attr(n, "rel") != "noreferrer nofollow" {
						t.Errorf("%s: the link to %q has rel %q", name, raw, attr(n, "rel"))
					}
					continue
				}
				if strings.HasPrefix(raw, "/") {
					t.Errorf("%s: %q is not relative", name, raw)
				}
				to := name
				if u.Path != "" {
					to = path.Join(path.Dir(name), u.Path)
				}
				if _, ok := all[to]; !ok && !beside[to] {
					t.Errorf("%s: %q leads to %q, which nobody writes", name, raw, to)
				}
				used[to] = true
				if u.Fragment != "" && !ids[to][u.Fragment] {
					t.Errorf("%s: %q: there is no id %q in %s", name, raw, u.Fragment, to)
				}
			}
		}
	}
	for p := range beside {
		if !used[p] {
			t.Errorf("no page links to %s", p)
		}
	}
}

func TestPagesKeepToThemselves(t *testing.T) {
	const want = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
	for name, content := range files(t, build(t, fixture(t))) {
		switch path.Ext(name) {
		case ".css":
			if strings.Contains(content, "url(") || strings.Contains(content, "@import") {
				t.Errorf("%s loads something", name)
			}
			continue
		case ".html":
		default:
			continue
		}
		policies, scripts, landmarks := 0, 0, map[string]int{}
		for n := range parse(t, content).Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			landmarks[n.Data]++
			for _, a := range n.Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: <%s> has the attribute %s", name, n.Data, a.Key)
				}
			}
			switch n.Data {
			case "meta":
				if attr(n, "http-equiv") == "Content-Security-Policy" {
					policies++
					if got := attr(n, "content"); got != want {
						t.Errorf("%s: policy %q", name, got)
					}
				}
			case "script":
				scripts++
				if attr(n, "src") != "assets/servers.js" || textOf(n) != "" {
					t.Errorf("%s: a script that is not ours: src %q, text %q", name, attr(n, "src"), textOf(n))
				}
			case "style", "iframe", "object", "embed", "form", "base", "img":
				t.Errorf("%s holds <%s>", name, n.Data)
			}
		}
		if policies != 1 {
			t.Errorf("%s has %d content security policies", name, policies)
		}
		if wantScripts := map[bool]int{true: 1}[name == "servers.html"]; scripts != wantScripts {
			t.Errorf("%s has %d scripts, want %d", name, scripts, wantScripts)
		}
		if landmarks["main"] != 1 || landmarks["h1"] != 1 || landmarks["header"] == 0 || landmarks["nav"] == 0 || landmarks["footer"] != 1 {
			t.Errorf("%s lacks a landmark: %v", name, landmarks)
		}
		if !strings.Contains(content, `<a class="skip" href="#main">`) || !strings.HasPrefix(content, "<!doctype html>\n<html lang=\"en\">") {
			t.Errorf("%s has no skip link or no language", name)
		}
	}
}

func TestOwnerEditionSaysSo(t *testing.T) {
	const banner = "Private edition for the operator of these servers. Not for publication."
	in := fixture(t)
	for name, content := range files(t, build(t, in)) {
		if strings.Contains(content, banner) {
			t.Errorf("the public %s says that it is private", name)
		}
	}
	in.Edition.Audience = "owner"
	in.Edition.NotInEdition = 0
	all := files(t, build(t, in))
	for name, content := range all {
		if strings.HasSuffix(name, ".html") && (!strings.Contains(content, banner) || !strings.Contains(content, `content="noindex, nofollow"`)) {
			t.Errorf("%s does not say that it is private", name)
		}
	}
	if all["robots.txt"] != "User-agent: *\nDisallow: /\n" {
		t.Errorf("robots.txt of a private edition: %q", all["robots.txt"])
	}
}
