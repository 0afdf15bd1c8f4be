package check

import (
	"context"
	"net/http"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// Line is one recorded line to one endpoint: everything that a check says to
// the outside goes through it. *wire.Line is one.
type Line interface {
	// Do sends a request within the scope of the run and records it.
	Do(*http.Request) (*http.Response, error)
	// Connect looks at the network path to the endpoint: name, TCP and TLS.
	// It never returns nil.
	Connect(context.Context) *wire.Connection
	// Exchanges are the contacts so far, in order.
	Exchanges() []wire.Exchange
	// Blocked lists the hosts that the scope refused, each once.
	Blocked() []string
	// Allow widens the scope by the host of an https URL that the endpoint's
	// metadata names, or says why not.
	Allow(rawURL string) error
}

// DefaultDeadline bounds one Run.
const DefaultDeadline = 3 * time.Minute

// Options says how to run.
type Options struct {
	Line       Line               // required
	Phases     []string           // a subset of AnonymousPhases in any order; empty: all of them
	Named      bool               // the operator named this host: a private address is no finding
	Now        func() time.Time   // the clock; time.Now when nil
	Client     mcp.Implementation // what the check calls itself; lustrum when empty
	Instrument Instrument         // Catalogue and Rubric are filled in
	Rubric     *rubric.Rubric     // anonymous/1 when nil
	Deadline   time.Duration      // of the whole run; DefaultDeadline when 0
}

func (o Options) withDefaults() (Options, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Client.Name == "" {
		o.Client = mcp.Implementation{Name: "lustrum", Version: "0"}
	}
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Rubric == nil {
		r, err := rubric.Load(rubric.Anonymous)
		if err != nil {
			return o, err
		}
		o.Rubric = r
	}
	o.Instrument.Catalogue = CatalogueID()
	o.Instrument.Rubric = o.Rubric.ID
	return o, nil
}
