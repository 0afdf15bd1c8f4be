package pipeline

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/registry"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
)

// Audiences of an edition.
const (
	Public = "public" // what disclosure holds back is left out, with its cover
	Owner  = "owner"  // for the operator of the servers: nothing is held back, not for publication
)

// Method is the version of the way a census is taken. Figures of different
// methods are not compared.
const Method = "1"

// Rubric is what a census judges under.
const Rubric = "anonymous/1"

// Phases that a census runs, without credentials and without calling a tool.
var Phases = []string{"net", "discovery", "handshake", "catalog"}

// Config says what one run does.
type Config struct {
	Registry   string   // base URL
	Namespaces []string // publishers in reverse-DNS order, such as io.github.example
	All        bool     // the whole registry instead of namespaces
	Out        string   // published folder: Out/current is the newest release
	Data       string   // private state
	Edition    string   // YYYY-MM-DD; empty: today in UTC
	Audience   string   // Public or Owner
	Contact    string   // URL or address of the operator; needed off loopback
	Operator   string   // label of the vantage point

	PerHost     float64       // requests per second and host; 0: no cap
	Concurrency int           // checks at once; a host never has more than one
	Deadline    time.Duration // of one endpoint
	Resolve     []string      // host:port:address[:port], as curl has it
	Roots       *x509.CertPool
	Named       bool // the operator runs the listed hosts: they may be private

	Version  string // of the program
	Commit   string
	Now      func() time.Time
	Progress io.Writer // lines for people
}

// withDefaults checks a configuration and fills in what it leaves open.
func (c Config) withDefaults() (Config, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	if c.Edition == "" {
		c.Edition = c.Now().UTC().Format(time.DateOnly)
	}
	if day, err := time.Parse(time.DateOnly, c.Edition); err != nil || day.Format(time.DateOnly) != c.Edition {
		return c, fmt.Errorf("edition %q is not a date: write it as YYYY-MM-DD", c.Edition)
	}
	if c.Audience == "" {
		c.Audience = Public
	}
	if c.Audience != Public && c.Audience != Owner {
		return c, fmt.Errorf("audience %q is neither %q nor %q", c.Audience, Public, Owner)
	}
	if c.PerHost < 0 || c.Concurrency < 0 || c.Deadline < 0 {
		return c, errors.New("rate, concurrency and deadline can't be negative")
	}
	if c.Concurrency == 0 {
		c.Concurrency = 16
	}
	if c.Deadline == 0 {
		c.Deadline = 3 * time.Minute
	}
	if c.Operator == "" {
		c.Operator = "unnamed"
	}
	if err := c.checkSlice(); err != nil {
		return c, err
	}
	canonical, err := target.Canonical(c.Registry)
	if err != nil {
		return c, fmt.Errorf("registry %q: %w", target.Mask(c.Registry), err)
	}
	// One registry has one spelling: state and editions are found by it.
	c.Registry = strings.TrimSuffix(canonical, "/")
	return c, c.checkContact()
}

func (c Config) checkSlice() error {
	if c.Registry == "" {
		return errors.New("no registry was given: name one with --registry URL")
	}
	if c.All == (len(c.Namespaces) > 0) {
		return errors.New("give either --namespace NS (repeatable) or --all")
	}
	for _, ns := range c.Namespaces {
		if _, err := registry.ParseNamespace(ns); err != nil {
			return err
		}
	}
	return nil
}

// checkContact holds the rule that whoever knocks at somebody else's door
// says who they are.
func (c Config) checkContact() error {
	if strings.ContainsFunc(c.Contact, func(r rune) bool { return r < 0x20 || r > 0x7e }) || len(c.Contact) > 200 {
		return errors.New("the contact must be at most 200 printable ASCII characters: it goes into a header of every request")
	}
	if c.Contact != "" || c.staysHome(c.Registry) {
		return nil
	}
	return errors.New("this run leaves loopback and names no contact: give --contact URL-or-address, which goes into the User-Agent and onto the site")
}

// staysHome reports whether a URL is served by this machine: a loopback
// address, or a name that Resolve leads to one.
func (c Config) staysHome(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" || loopback(u.Hostname()) {
		return true
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	prefix := strings.ToLower(u.Hostname()) + ":" + port + ":"
	return slices.ContainsFunc(c.Resolve, func(r string) bool {
		rest, ok := strings.CutPrefix(strings.ToLower(r), prefix)
		if !ok {
			return false
		}
		if host, _, err := net.SplitHostPort(rest); err == nil {
			rest = host
		}
		return loopback(strings.Trim(rest, "[]"))
	})
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// slice is a short name for what is listed: state of different slices never
// mixes.
func (c Config) slice() string {
	sum := sha256.Sum256([]byte(c.Registry + "\n" + strings.Join(c.sortedNamespaces(), "\n")))
	return hex.EncodeToString(sum[:6])
}

func (c Config) sortedNamespaces() []string {
	return slices.Compact(slices.Sorted(slices.Values(c.Namespaces)))
}

// userAgent names the program and who runs it.
func (c Config) userAgent() string {
	agent := "lustrum/" + c.Version
	if c.Contact != "" {
		agent += " (+" + c.Contact + ")"
	}
	return agent
}

func (c Config) door() (*wire.Door, error) {
	return wire.NewDoor(wire.Options{
		UserAgent: c.userAgent(),
		PerHost:   c.PerHost,
		Resolve:   c.Resolve,
		RootCAs:   c.Roots,
	})
}
