package check

import (
	"context"
	"net/http"
)

// challenge is what the WWW-Authenticate headers of an answer say.
type challenge struct {
	bearer   bool
	metadata string   // resource_metadata, resolved against the endpoint
	faults   []string // deviations that did not stop the reading
}

// resourceMetadata is RFC 9728 metadata as it was found, or not.
type resourceMetadata struct {
	found     bool
	url       string
	resource  string
	same      bool     // resource is the endpoint
	servers   []string // authorization_servers, each once
	tried     []string // what came of each location
	unsettled string   // why not finding any proves nothing
	ev        span
}

// authServer is the metadata of one authorization server.
type authServer struct {
	issuer          string
	found           bool
	url             string
	other           string // the issuer of a document that names another one
	endpoints       map[string]string
	pkce            []string
	pkceGiven       bool
	grants          []string
	clientDocuments bool
	tried           []string
	unsettled       string
	ev              span
}

func readChallenge(http.Header, string) challenge { return challenge{} }
func (r *run) fetchResource(context.Context, string) resourceMetadata {
	return resourceMetadata{unsettled: "not looked at"}
}
func (r *run) fetchServer(_ context.Context, issuer string) authServer {
	return authServer{issuer: issuer, unsettled: "not looked at"}
}
