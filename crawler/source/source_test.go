package source

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// urls are the addresses that a file names, in its order.
func urls(t *testing.T, f *File) []string {
	t.Helper()
	out := []string{}
	for _, at := range f.Targets {
		for _, path := range at.Paths {
			u, err := at.URL(path)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, u)
		}
		if len(at.Paths) == 0 {
			out = append(out, at.Origin())
		}
	}
	return out
}

func skipped(f *File) map[string]string {
	out := map[string]string{}
	for _, s := range f.Skipped {
		out[s.Name] = s.Reason
	}
	return out
}

func TestFieldConfigurations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.expect.json")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, name := range files {
		var want struct {
			Targets  []string          `json:"targets"`
			Programs []string          `json:"skipped_programs"`
			Skipped  map[string]string `json:"skipped"`
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		f, err := Config(strings.TrimSuffix(name, ".expect.json"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := urls(t, f); !slices.Equal(got, want.Targets) {
			t.Errorf("%s: targets %q; want %q", name, got, want.Targets)
		}
		got := skipped(f)
		for _, program := range want.Programs {
			if got[program] != Program {
				t.Errorf("%s: %s is left out as %q", name, program, got[program])
			}
		}
		for server, reason := range want.Skipped {
			if got[server] != reason {
				t.Errorf("%s: %s is left out as %q; want %q", name, server, got[server], reason)
			}
		}
	}
}

func TestConfigurationsOfClients(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             []string
		skipped          map[string]string
	}{
		{"Claude Code, all folders", ".claude.json", `{"mcpServers": {"a": {"type": "http", "url": "https://a.test/mcp"}},
			"projects": {"/home/x": {"mcpServers": {"b": {"type": "sse", "url": "https://b.test/sse"}, "c": {"url": "https://c.test/"}}, "disabledMcpServers": ["c"]},
			             "C:\\x": {"mcpServers": {}}}}`,
			[]string{"https://a.test/mcp", "https://b.test/sse"}, map[string]string{"c": Disabled}},
		{"Windsurf", "mcp_config.json", `{"mcpServers": {"a": {"serverUrl": "https://a.test/mcp", "disabled": false}, "b": {"serverUrl": "https://b.test/mcp", "disabled": true}}}`,
			[]string{"https://a.test/mcp"}, map[string]string{"b": Disabled}},
		{"VS Code workspace", "x.code-workspace", `{"folders": [], "settings": {"mcp": {"servers": {"a": {"url": "https://a.test/mcp"}}}, "mcp.servers": {"b": {"url": "https://b.test/mcp"}}}}`,
			[]string{"https://a.test/mcp", "https://b.test/mcp"}, nil},
		{"development container", "devcontainer.json", `{"customizations": {"vscode": {"mcp": {"servers": {"a": {"url": "https://a.test/mcp"}}}}}}`,
			[]string{"https://a.test/mcp"}, nil},
		{"one host, two paths", "mcp.json", `{"mcpServers": {"a": {"url": "https://a.test/one"}, "b": {"url": "https://A.test:443/two"}}}`,
			[]string{"https://a.test/one", "https://a.test/two"}, nil},
		{"two addresses", "mcp.json", `{"mcpServers": {"a": {"url": "https://a.test/sse", "httpUrl": "https://a.test/mcp"}}}`,
			[]string{"https://a.test/sse", "https://a.test/mcp"}, nil},
		{"placeholders", "mcp.json", `{"mcpServers": {"a": {"url": "${MCP:-https://a.test}/mcp"}, "b": {"url": "https://<host>/"}, "c": {"url": "https://$HOST/mcp"}, "d": {"url": "%MCP%"}, "e": {"url": "https://e.test/$x"}}}`,
			[]string{"https://e.test/$x"}, map[string]string{"a": Placeholder, "b": Placeholder, "c": Placeholder, "d": Placeholder}},
		{"nothing to ask", "mcp.json", `{"mcpServers": {"a": null, "b": {}, "c": {"url": ""}, "d": {"url": 7}, "e": "https://e.test/"}}`,
			[]string{}, map[string]string{"a": NoAddress, "b": NoAddress, "c": NoAddress, "e": NoAddress}},
		{"YAML", "config.yaml", "mcpServers:\n  - name: a\n    type: streamable-http\n    url: https://a.test/mcp\n  - name: b\n    command: npx\n",
			[]string{"https://a.test/mcp"}, map[string]string{"b": Program}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "nothing to ask" {
				// A number is no address and stops the reading.
				if _, err := ParseConfig(c.file, []byte(c.text)); err == nil || !strings.Contains(err.Error(), "mcp.json:1 (d)") {
					t.Fatalf("error %v", err)
				}
				c.text = strings.Replace(c.text, `"d": {"url": 7}, `, "", 1)
			}
			f, err := ParseConfig(c.file, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := urls(t, f); !slices.Equal(got, c.want) {
				t.Errorf("targets %q; want %q", got, c.want)
			}
			if got := skipped(f); len(got) != len(c.skipped) {
				t.Errorf("left out %v; want %v", got, c.skipped)
			}
			for name, reason := range c.skipped {
				if got := skipped(f)[name]; got != reason {
					t.Errorf("%s is left out as %q; want %q", name, got, reason)
				}
			}
		})
	}
}

func TestSecretsAreNotKept(t *testing.T) {
	text := `{"mcpServers": {"a": {"url": "https://a.test/mcp?api_key=hunter2&x=1", "headers": {"Authorization": "Bearer hunter2"}, "env": {"K": "hunter2"}},
		"b": {"command": "npx", "args": ["--key", "hunter2"]}}}`
	f, err := ParseConfig("mcp.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := urls(t, f); !slices.Equal(got, []string{"https://a.test/mcp?x=1"}) {
		t.Errorf("targets %q", got)
	}
	if raw, err := json.Marshal(f); err != nil || strings.Contains(string(raw), "hunter2") {
		t.Errorf("%s, %v", raw, err)
	}
	if want := []string{`mcp.json:1 (a): asked without the parameter "api_key": discovery has no credentials`}; !slices.Equal(f.Notes, want) {
		t.Errorf("notes %q", f.Notes)
	}
}

// agentgateway's own file, its Kubernetes resources and its early JSON form,
// and entries of an Obot catalog: written for this test after their schemas.
func TestGateways(t *testing.T) {
	const local = `
binds:
- port: 3000
  listeners:
  - routes:
    - policies:
        mcpAuthentication: {issuer: https://issuer.test/, jwks: {url: https://issuer.test/jwks}}
      backends:
      - mcp:
          targets:
          - name: program
            stdio: {cmd: npx, args: ["https://arg.test/mcp"]}
          - name: url
            mcp: {host: https://url.test/mcp}
          - name: pieces
            mcp: {host: pieces.test, port: 3005, path: /tools}
          - name: secure
            sse: {host: secure.test, port: 8443, path: sse}
            policies: {backendTLS: {}}
          - name: known
            mcp: &known {host: known.test, port: 443, path: /mcp}
          - name: six
            mcp: {host: "2001:db8::7", port: 80}
          - name: bare
            mcp: {host: bare.test}
          - name: own
            mcp: {host: "own.test:9000", path: /mcp}
          - name: variable
            mcp: {host: $MCP_HOST, port: 80}
          - name: spec
            openapi: {host: https://api.test, schema: {file: x.json}}
          - name: again
            mcp: *known
`
	const resources = `
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {Authorization: Bearer x}
---
apiVersion: agentgateway.dev/v1alpha1
kind: AgentgatewayBackend
spec:
  mcp:
    targets:
    - name: static
      static: {host: static.test, port: 443, path: /mcp/, protocol: StreamableHTTP, policies: {tls: {}}}
    - name: labels
      selector: {services: {matchLabels: {app: mcp}}}
`
	for _, c := range []struct {
		name, file, text string
		want             []string
		skipped          map[string]string
	}{
		{"agentgateway", "config.yaml", local, []string{
			"https://url.test/mcp", "http://pieces.test:3005/tools", "https://secure.test:8443/sse", "https://known.test/mcp", "http://[2001:db8::7]",
			"https://bare.test", "http://own.test:9000/mcp",
		}, map[string]string{"program": Program, "variable": Placeholder, "spec": NoAddress}},
		{"Kubernetes resources", "mcp.yml", resources, []string{"https://static.test/mcp/"}, map[string]string{"labels": NoAddress}},
		{"early agentgateway", "config.json", `{"type": "static", "listeners": [{"name": "l", "address": "0.0.0.0", "port": 3000}], // here
			"targets": {"mcp": [{"name": "a", "sse": {"host": "a.test", "port": 8080, "path": "/sse"}}, {"name": "b", "stdio": {"cmd": "x"}}]}}`,
			[]string{"http://a.test:8080/sse"}, map[string]string{"b": Program}},
		{"Obot", "catalog.yaml", `
- name: remote
  description: "see https://docs.test/"
  icon: https://icons.test/a.png
  runtime: remote
  remoteConfig: {fixedURL: https://remote.test/mcp, headers: [{key: Authorization, value: x}]}
- name: program
  runtime: npx
  npxConfig: {package: "x"}
- name: template
  runtime: remote
  remoteConfig: {fixedUrl: "https://${HOST}/mcp"}
- name: pattern
  runtime: remote
  remoteConfig: {hostname: "*.pattern.test"}
`, []string{"https://remote.test/mcp"}, map[string]string{"program": Program, "template": Placeholder, "pattern": NoAddress}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := ParseGateway(c.file, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := urls(t, f); !slices.Equal(got, c.want) {
				t.Errorf("targets %q; want %q", got, c.want)
			}
			for name, reason := range c.skipped {
				if got := skipped(f)[name]; got != reason {
					t.Errorf("%s is left out as %q; want %q", name, got, reason)
				}
			}
			if len(f.Skipped) != len(c.skipped) {
				t.Errorf("left out %v", f.Skipped)
			}
		})
	}
	f, err := ParseGateway("config.yaml", []byte(local))
	if err != nil || !slices.Equal(f.Targets[3].Sources, []string{"config.yaml:21 (known)", "config.yaml:21 (again)"}) {
		t.Errorf("sources %q, %v", f.Targets[3].Sources, err)
	}
}

// TestRefusals: what names more than one host, or none, stops the reading, with
// file and line.
func TestRefusals(t *testing.T) {
	servers := func(url string) string { return "{\n\"mcpServers\": {\n\"x\": {\"url\": \"" + url + "\"}}}" }
	backend := func(host string) string { return "targets:\n- name: x\n  mcp:\n    host: " + host + "\n" }
	for _, c := range []struct{ file, text, want string }{
		{"mcp.json", servers("https://10.0.0.0/24"), "mcp.json:3 (x): target \"https://10.0.0.0/24\": a range"},
		{"mcp.json", servers("https://*.example.test/mcp"), "mcp.json:3 (x): target"},
		{"mcp.json", servers("https://user:hunter2@example.test/mcp"), "mcp.json:3 (x): the URL carries credentials"},
		{"mcp.json", servers("ws://example.test/mcp"), "neither http nor https"},
		{"mcp.json", servers("example.test/mcp"), "no absolute http(s) URL"},
		{"mcp.json", servers("https://2130706433/mcp"), "mcp.json:3 (x)"},
		{"mcp.json", servers("https://0x7f.1/mcp"), "mcp.json:3 (x)"},
		{"mcp.json", `{"mcpServers": {"a": {"url": "https://a.te`, "mcp.json: line 1, column"},
		{"mcp.json", `{"editor.fontSize": 12}`, "no MCP servers are named"},
		{"mcp.json", " \n", "the file is empty"},
		{"mcp.json", "\xff\xfe{\x00}\x00", "UTF-16"},
		{"mcp.json", "{\"\xff\": 1}", "not UTF-8"},
		{"mcp.json", strings.Repeat("[", 1<<20), "nested"},
		{"mcp.json", `{"a": "\"[[[", /* [[ */ "b": ` + strings.Repeat("[", 65), "nested 66 deep"},
		{"gw.yaml", backend("10.0.0.0/24"), "gw.yaml:4 (x)"},
		{"gw.yaml", backend("\"*.example.test\""), "gw.yaml:4 (x)"},
		{"gw.yaml", backend("user:hunter2@example.test"), "gw.yaml:4 (x)"},
		{"gw.yaml", backend("example.test\n    port: 99999"), "port \"99999\""},
		{"gw.yaml", backend("example.test:80\n    port: 90"), "a port of its own"},
		{"gw.yaml", "targets: [\n", "gw.yaml: line"},
		{"gw.yaml", "a: b\n", "no MCP backends are named"},
		{"gw.yaml", strings.Repeat("- ", 100) + "x", "over the bound"},
		{"gw.yaml", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n", "over the bound"},
	} {
		read := ParseConfig
		if strings.HasPrefix(c.file, "gw") {
			read = ParseGateway
		}
		f, err := read(c.file, []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %+v, error %v; want %q", c.text, f, err, c.want)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error repeats a secret: %v", err)
		}
	}
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.json")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 100<<20); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir: "is a directory", filepath.Join(dir, "none"): "no such file", big: "over the bound", os.DevNull: "no regular file",
	} {
		for name, f := range map[string]func(string) (*File, error){"config": Config, "gateway": Gateway, "targets": Targets} {
			if _, err := f(path); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %q: error %v; want %q", name, path, err, want)
			}
		}
	}
}

func TestTargetsFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hosts.txt")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.test\nhttps://b.test/mcp?token=hunter2\n")
	f, err := Targets(path)
	if err != nil || !slices.Equal(urls(t, f), []string{"https://a.test", "https://b.test/mcp"}) || len(f.Notes) != 1 || strings.Contains(f.Notes[0], "hunter2") {
		t.Errorf("%+v, %v", f, err)
	}
	write("a.test\nhttps://user:hunter2@b.test/\n")
	if _, err := Targets(path); err == nil || !strings.Contains(err.Error(), "hosts.txt:2: ") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("user information: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, false)
	}
	f.Add([]byte("targets:\n- name: x\n  mcp: {host: a.test, port: 80, path: x}\n- <<: &a {name: y}\n  sse: *a\n"), true)
	f.Add([]byte("{\"mcpServers\": [{\"url\": \"https://a.test/%\"}]}"), true)
	f.Fuzz(func(t *testing.T, data []byte, yaml bool) {
		name := "x.json"
		if yaml {
			name = "x.yaml"
		}
		for _, parse := range []func(string, []byte) (*File, error){ParseConfig, ParseGateway} {
			found, err := parse(name, data)
			if err != nil {
				continue
			}
			for _, at := range found.Targets {
				if at.UserInfo || len(at.Sources) == 0 {
					t.Errorf("%+v", at)
				}
				for _, path := range at.Paths {
					u, err := at.URL(path)
					if err != nil {
						t.Errorf("%q: %v", path, err)
					} else if again, err := target.Canonical(u); err != nil || again != u {
						t.Errorf("%q is not canonical: %q, %v", u, again, err)
					}
				}
			}
		}
	})
}
