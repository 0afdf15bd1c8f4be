package registry

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// selectRemotes gives every remote of the chosen entries its endpoint or its
// reason, and counts the entries that are left without a target.
func (w *walk) selectRemotes() {
	measured := map[string]bool{}
	for at, e := range w.slice.Entries {
		var mine []Remote
		if len(e.remotes) == 0 {
			r := Remote{Name: e.Name, Version: e.Version, Reason: NotRemote}
			if w.optedOut(e.Name, "") {
				r.Reason = OptedOut
			}
			r.Entry = at
			mine = append(mine, r)
		}
		for _, listed := range e.remotes {
			r := w.remote(e, listed)
			r.Entry = at
			if r.Reason == "" {
				if id := r.Endpoint.ID(); measured[id] {
					r.Reason = Duplicate
				} else {
					measured[id] = true
				}
			}
			mine = append(mine, r)
		}
		targets := 0
		for _, r := range mine {
			if r.Reason == "" {
				targets++
			} else {
				w.slice.SkippedRemotes[r.Reason]++
			}
		}
		w.slice.Remotes = append(w.slice.Remotes, mine...)
		if targets > 0 {
			w.slice.Measured++
			continue
		}
		w.skip(LeftOut{Name: e.Name, Version: e.Version, Reason: mine[0].Reason, Detail: mine[0].Detail, Page: e.Page, Index: e.index})
	}
}

func (w *walk) optedOut(name, url string) bool {
	return w.OptedOut != nil && w.OptedOut(name, url)
}

// remote judges one remote by what is listed; nothing is resolved or sent.
func (w *walk) remote(e Entry, listed listedRemote) Remote {
	r := Remote{Name: e.Name, Version: e.Version, Transport: listed.transport, URL: maskURL(listed.url)}
	for _, h := range listed.headers {
		r.Headers = appendNew(r.Headers, h.name)
		if h.required {
			r.NeedsHeaders = appendNew(r.NeedsHeaders, h.name)
		}
	}
	canonical, err := target.Canonical(listed.url)
	asked := canonical
	if err != nil {
		asked = listed.url
	}
	if w.optedOut(e.Name, asked) {
		r.Reason = OptedOut
		return r
	}
	r.Reason, r.Detail = w.judge(listed, canonical)
	if r.Reason != "" {
		return r
	}
	if err == nil {
		r.Endpoint, err = target.New(listed.transport, canonical)
	}
	if err != nil {
		r.Reason, r.Detail = InvalidURL, "invalid URL: "+err.Error()
	} else if w.SkipNeedsHeaders && len(r.NeedsHeaders) > 0 {
		r.Endpoint = target.Endpoint{}
		r.Reason, r.Detail = NeedsHeaders, "needs headers from the user: "+strings.Join(r.NeedsHeaders, ", ")
	}
	return r
}

// judge finds the first reason to leave a remote out; what remains may still
// be no valid URL. Canonical is empty when it isn't one.
func (w *walk) judge(listed listedRemote, canonical string) (Reason, string) {
	if listed.bad != "" {
		return InvalidURL, "invalid URL: " + listed.bad
	}
	if listed.url == "" {
		return InvalidURL, "invalid URL: the remote has none"
	}
	if name, ok := target.TemplateVariable(listed.url); ok {
		return TemplateURL, "template variable " + name
	}
	if listed.transport != target.StreamableHTTP && listed.transport != target.SSE {
		return UnknownTransport, fmt.Sprintf("unknown transport %q", listed.transport)
	}
	scheme, rest, found := strings.Cut(listed.url, ":")
	if s := strings.ToLower(scheme); found && isScheme(s) && s != "http" && s != "https" {
		return NotHTTP, fmt.Sprintf("not http(s): scheme %q", clip(s))
	} else if !found || !isScheme(s) {
		return InvalidURL, "invalid URL: it has no scheme"
	}
	authority, _, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
	if i := strings.IndexAny(authority, "?#"); i >= 0 {
		authority = authority[:i]
	}
	if strings.Contains(authority, "@") {
		return Credentials, ""
	}
	if key := target.SecretParameter(listed.url); key != "" {
		return Credentials, fmt.Sprintf("credentials in the URL: parameter %q", clip(key))
	}
	// A host that has no canonical form may still be taken for an address by
	// some resolver (a decimal number).
	host := authority
	if u, err := url.Parse(cmp.Or(canonical, listed.url)); err == nil {
		host = u.Hostname()
	}
	if target.IsLocal(host) && (w.Named == nil || !w.Named(host)) {
		return PrivateAddress, fmt.Sprintf("private address: host %q", clip(host))
	}
	return "", ""
}

func isScheme(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == "" && s[0] >= 'a'
}

// maskURL hides the credentials of a listed URL and bounds it.
func maskURL(raw string) string {
	masked := target.Mask(raw)
	if _, isTemplate := target.TemplateVariable(raw); !isTemplate && target.SecretParameter(raw) != "" {
		masked, _, _ = strings.Cut(masked, "?")
		masked += "?***"
	}
	return clipTo(masked, target.MaxURL)
}

func appendNew(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
