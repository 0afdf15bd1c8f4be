package mcp

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// The official SDK is an independent server here; its own client says what
// the tool list is.

func sdkServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "demo", Version: "0.0.1"}, &sdk.ServerOptions{Instructions: "demo", PageSize: 3})
	type in struct {
		Name string `json:"name" jsonschema:"who"`
	}
	for i := range 7 {
		sdk.AddTool(s, &sdk.Tool{Name: fmt.Sprintf("tool-%d", i), Description: "Greets the named person politely."},
			func(context.Context, *sdk.CallToolRequest, in) (*sdk.CallToolResult, any, error) {
				return nil, nil, nil
			})
	}
	return s
}

// sdkTools asks the SDK's client for the names.
func sdkTools(t *testing.T, server *sdk.Server) []string {
	t.Helper()
	ctx := context.Background()
	near, far := sdk.NewInMemoryTransports()
	if _, err := server.Connect(ctx, far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "oracle", Version: "1"}, nil).Connect(ctx, near, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var list []string
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tool.Name)
	}
	return list
}

func TestAgainstSDK(t *testing.T) {
	for _, tt := range []struct {
		name            string
		stateless, json bool
		sse             bool
		era             Era
		modern          bool
	}{
		{"stateless JSON", true, true, false, EraDual, true},
		{"stateless stream", true, false, false, EraDual, true},
		{"stateful JSON", false, true, false, EraDiscoverOnly, false},
		{"stateful stream", false, false, false, EraDiscoverOnly, false},
		{"HTTP+SSE", false, false, true, EraLegacy, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := sdkServer()
			get := func(*http.Request) *sdk.Server { return server }
			o := Options{}
			var h http.Handler = sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Stateless: tt.stateless, JSONResponse: tt.json})
			if tt.sse {
				h, o.Transport = sdk.NewSSEHandler(get, nil), target.SSE
			}
			c := newClient(t, h, o)
			ctx := context.Background()
			p := c.Probe(ctx)
			if p.Era != tt.era || p.Protected || p.Unlisted != "" || p.Initiated == nil {
				t.Fatalf("%s, want %s: %s", p.Era, tt.era, p.Why)
			}
			t.Log(p.Why)
			if p.Initiated.ProtocolVersion != LatestLegacy || p.Initiated.ServerInfo.Name != "demo" || p.Initiated.Instructions != "demo" || p.Notified.Status != 202 {
				t.Errorf("%+v", p.Initiated)
			}
			session := c.Session(p)
			if session == nil || session.Modern != tt.modern || session.Capabilities["tools"] == nil {
				t.Fatalf("%+v", session)
			}
			want := sdkTools(t, server)
			for _, session := range []*Session{session, c.LegacySession(p)} {
				w := session.List(ctx, "tools/list", "tools")
				if got := names(t, w.Items); !slices.Equal(got, want) || w.Pages != 3 || len(w.Faults) != 0 || w.Err != nil {
					t.Errorf("%q in %d pages, want %q; %v %v", got, w.Pages, want, w.Faults, w.Err)
				}
				for _, a := range w.Answers {
					wantKinds(t, a.Faults)
					if a.Stream != (tt.sse || !tt.json && !session.Modern) && !session.Modern {
						t.Errorf("stream %v", a.Stream)
					}
				}
			}
			if !session.Modern {
				if a := session.Call(ctx, "ping", nil); string(a.Result()) != "{}" {
					t.Errorf("ping %+v", a)
				}
			}
			if tt.era == EraDiscoverOnly {
				a := c.Send(ctx, Request{Method: "tools/list", Modern: true, Version: LatestModern})
				if a.RPCError() == nil || a.RPCError().Code != CodeUnsupportedVersion || a.Status != 400 {
					t.Errorf("modern request to a stateful server: %+v", a)
				}
			}
			session.Close(ctx)
			if session.ID != "" && !tt.sse {
				if a := session.Call(ctx, "tools/list", nil); a.Status != 404 {
					t.Errorf("status %d after DELETE, want 404", a.Status)
				}
			}
		})
	}
}

// A Streamable HTTP client that meets an HTTP+SSE endpoint says so.
func TestDetectsSDKSSE(t *testing.T) {
	server := sdkServer()
	c := newClient(t, sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil), Options{})
	p := c.Probe(context.Background())
	if p.Era != EraNone || p.Endpoint == "" {
		t.Errorf("%s %q: %s", p.Era, p.Endpoint, p.Why)
	}
}
