package check

import (
	"context"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type greetIn struct {
	Name string `json:"name" jsonschema:"whom to greet"`
}

type greetOut struct {
	Greeting string `json:"greeting"`
}

// sdkServer is an honest server on the official SDK.
func sdkServer(stateless bool) http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "2.1.0"}, &sdk.ServerOptions{Instructions: "Greets people."})
	sdk.AddTool(server, &sdk.Tool{Name: "read_greeting", Description: "Returns a greeting for the named person.",
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in greetIn) (*sdk.CallToolResult, greetOut, error) {
			return nil, greetOut{"Hello " + in.Name}, nil
		})
	server.AddResource(&sdk.Resource{Name: "names", URI: "file:///names.txt", Description: "All names that were greeted."},
		func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{}, nil
		})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: stateless})
}

// The eras are those measured on the SDK by hand: stateless serves both eras,
// stateful only the legacy one, though it answers server/discover.
func TestOfficialSDK(t *testing.T) {
	for _, c := range []struct {
		name      string
		stateless bool
		era       string
		session   string
		discover  string
	}{
		{"stateless", true, "dual", "stateless", "pass"},
		{"stateful", false, "discover-only-legacy", "issued", "skip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := runAgainst(t, sdkServer(c.stateless), "/mcp")
			if rep.Server.Era != c.era || rep.Server.Name != "greeter" || rep.Server.Version != "2.1.0" {
				t.Errorf("server %+v", rep.Server)
			}
			if len(rep.Tools) != 1 || rep.Tools[0].Name != "read_greeting" || rep.Resources != 1 || rep.Prompts != 0 {
				t.Errorf("%d tools, %d resources, %d prompts", len(rep.Tools), rep.Resources, rep.Prompts)
			}
			wantOutcomes(t, rep, map[string]string{
				"discovery.first_contact": "info", "handshake.initialize": "pass", "handshake.protocol_version": "pass",
				"handshake.server_info": "pass", "handshake.capabilities": "pass", "handshake.discover": c.discover,
				"catalog.tools.list": "pass", "catalog.resources.list": "pass", "catalog.prompts.list": "skip",
				"catalog.tools.input_schema": "pass", "catalog.tools.output_schema": "pass", "catalog.tools.annotation_honesty": "pass",
				"catalog.text.instructions": "pass", "auth.unauthenticated_tools": "info",
			})
			if f := find(rep, "handshake.session"); !strings.Contains(f[0].Observed, c.session) {
				t.Errorf("session: %s", f[0].Observed)
			}
			if len(rep.Exchanges) > 12 {
				t.Errorf("%d requests, more than 12", len(rep.Exchanges))
			}
			if rep.Score == nil || rep.Score.Grade != "A" {
				t.Errorf("score %+v", rep.Score)
			}
			if t.Failed() {
				dump(t, rep)
			}
		})
	}
}
