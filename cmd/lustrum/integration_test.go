//go:build integration

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lustrum-mcp/lustrum/internal/lab"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// real is one server from npm. Eras are those measured with other clients.
type real struct {
	name string // registry name
	host string
	era  string
	args func(npm, dir string, port int) (env, argv []string)
}

var reals = []real{
	{"com.example/everything", "everything.example.com", "legacy", func(npm, _ string, port int) ([]string, []string) {
		return []string{"PORT=" + strconv.Itoa(port)}, []string{filepath.Join(npm, "mcp-server-everything"), "streamableHttp"}
	}},
	{"com.example/filesystem", "filesystem.example.com", "dual", func(npm, dir string, port int) ([]string, []string) {
		return nil, []string{filepath.Join(npm, "mcp-proxy"), "--port", strconv.Itoa(port), "--host", "127.0.0.1", "--", filepath.Join(npm, "mcp-server-filesystem"), dir}
	}},
	{"com.example/context7", "context7.example.com", "dual", func(npm, _ string, port int) ([]string, []string) {
		return nil, []string{filepath.Join(npm, "context7-mcp"), "--transport", "http", "--port", strconv.Itoa(port)}
	}},
	{"com.example/git", "git.example.com", "legacy", func(npm, _ string, port int) ([]string, []string) {
		return []string{"MCP_TRANSPORT_TYPE=http", "MCP_HTTP_PORT=" + strconv.Itoa(port), "MCP_HTTP_HOST=127.0.0.1"}, []string{filepath.Join(npm, "git-mcp-server")}
	}},
}

// TestCensusOfRealServers runs the whole pipeline over servers that other
// people wrote, listed by the official registry on a real PostgreSQL.
func TestCensusOfRealServers(t *testing.T) {
	npm, registry := tools(t)
	dir := t.TempDir()

	var servers []lab.Server
	want := map[string][]string{}
	for _, r := range reals {
		port := freePort(t)
		env, argv := r.args(npm, dir, port)
		spawn(t, r.name, env, argv...)
		awaitPort(t, r.name, port)
		upstream := &url.URL{Scheme: "http", Host: "127.0.0.1:" + strconv.Itoa(port)}
		want[r.host] = listedBy(t, upstream.String()+"/mcp")
		servers = append(servers, lab.Server{Name: r.name, Host: r.host, Path: "/mcp", Transport: "streamable-http", Handler: front(upstream)})
	}
	l, err := lab.Start(servers)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	base := officialRegistry(t, registry, servers)
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, l.Authority(), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "census")
	args := []string{"census", "run", "--registry", base, "--namespace", "com.example", "--out", out, "--data", filepath.Join(dir, "data"),
		"--audience", "owner", "--rate", "0", "--ca-file", ca}
	for _, r := range l.Resolve() {
		args = append(args, "--resolve", r)
	}
	text := lustrum(t, 0, args...)
	if !strings.Contains(text, "checked 4,") {
		t.Errorf("the run does not say that it checked four:\n%s", text)
	}
	published := cards(t, filepath.Join(out, "current"))
	if len(published) != len(reals) {
		t.Errorf("%d cards, want %d", len(published), len(reals))
	}
	for _, r := range reals {
		compareCard(t, published[r.host], r, want[r.host])
	}
	lustrum(t, 0, "census", "reproduce", filepath.Join(out, "current"))

	before := treeOf(t, filepath.Join(out, "current"))
	text = lustrum(t, 0, args...)
	if !strings.Contains(text, "applied 0, unchanged 4") || !strings.Contains(text, "checked 0, already checked 4") {
		t.Errorf("the second run did something:\n%s", text)
	}
	if after := treeOf(t, filepath.Join(out, "current")); after != before {
		t.Error("the second run published other bytes")
	}
}

// compareCard reads the published card as a stranger would.
func compareCard(t *testing.T, c card, r real, tools []string) {
	t.Helper()
	got := c.tools()
	slices.Sort(got)
	slices.Sort(tools)
	if !slices.Equal(got, tools) {
		t.Errorf("%s: the card has tools %q, the server lists %q", r.name, got, tools)
	}
	if c.Server.Era != r.era || c.Auth.State != "open" || c.grade() == "" {
		t.Errorf("%s: the card says era %q, auth %q, grade %q; want era %q, open, and a grade", r.name, c.Server.Era, c.Auth.State, c.grade(), r.era)
	}
	t.Logf("%s: %s, grade %s, %d tools", r.name, c.Server.Era, c.grade(), len(got))
	for _, f := range c.Findings {
		if f.Status == "fail" {
			t.Logf("%s: fails %s (%s)", r.name, f.ID, f.Severity)
		}
	}
}

// listedBy asks a server for its tools with the official client, which declares
// no capability, as a census does: some servers list more to who declares more.
func listedBy(t *testing.T, endpoint string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "oracle", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: endpoint, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatalf("%s: %v", endpoint, err)
	}
	defer session.Close()
	var names []string
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatalf("%s: %v", endpoint, err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// front speaks TLS under a public name for a server that has neither.
func front(upstream *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
		},
	}
}

// officialRegistry runs the registry of the MCP project on a PostgreSQL of
// its own, seeded with the servers.
func officialRegistry(t *testing.T, binary string, servers []lab.Server) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lustrum-registry-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var seed []map[string]any
	for _, s := range servers {
		seed = append(seed, map[string]any{
			"$schema":     "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
			"name":        s.Name,
			"description": "A real server from npm",
			"version":     "1.0.0",
			"remotes":     []any{map[string]any{"type": s.Transport, "url": s.URL()}},
		})
	}
	raw, err := json.Marshal(seed)
	if err != nil {
		t.Fatal(err)
	}
	seedFile := filepath.Join(dir, "seed.json")
	if err := os.WriteFile(seedFile, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	database := postgres(t, dir)
	port := freePort(t)
	key := make([]byte, 32)
	rand.Read(key)
	spawn(t, "registry", []string{
		"MCP_REGISTRY_SERVER_ADDRESS=127.0.0.1:" + strconv.Itoa(port),
		"MCP_REGISTRY_DATABASE_URL=" + database,
		"MCP_REGISTRY_DATABASE_MAX_CONNECTIONS=10",
		"MCP_REGISTRY_DATABASE_MIN_CONNECTIONS=1",
		"MCP_REGISTRY_SEED_FROM=" + seedFile,
		"MCP_REGISTRY_ENABLE_REGISTRY_VALIDATION=false",
		"MCP_REGISTRY_JWT_PRIVATE_KEY=" + hex.EncodeToString(key),
	}, binary)
	awaitPort(t, "registry", port)
	return "http://127.0.0.1:" + strconv.Itoa(port)
}

// postgres starts a cluster in dir and returns the URL of an empty database.
func postgres(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		t.Fatal("no PostgreSQL server found: install the package postgresql")
	}
	bin := filepath.Dir(found[len(found)-1])
	port := freePort(t)
	data := filepath.Join(dir, "data")
	as := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = "/"
		if os.Geteuid() == 0 {
			// PostgreSQL refuses to run as root.
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential(t, "postgres")}
		}
		return cmd
	}
	if os.Geteuid() == 0 {
		c := credential(t, "postgres")
		if err := os.Chown(dir, int(c.Uid), int(c.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := as("initdb", "-D", data, "-A", "trust", "-U", "mcp", "-N").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := as("postgres", "-D", data, "-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-k", dir)
	start(t, "postgres", server)
	awaitPort(t, "postgres", port)
	base := fmt.Sprintf("postgres://mcp@127.0.0.1:%d/", port)
	deadline := time.Now().Add(30 * time.Second)
	for {
		out, err := as("psql", base+"postgres", "-c", "create database registry").CombinedOutput()
		if err == nil {
			return base + "registry?sslmode=disable"
		}
		if time.Now().After(deadline) {
			t.Fatalf("create database: %v\n%s", err, out)
		}
	}
}

func credential(t *testing.T, name string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatalf("the user %s that PostgreSQL runs as: %v", name, err)
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// tools finds what `make integration` installs.
func tools(t *testing.T) (npm, registry string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", "build"))
	if err != nil {
		t.Fatal(err)
	}
	npm, registry = filepath.Join(root, "npm", "node_modules", ".bin"), filepath.Join(root, "registry")
	for _, path := range []string{npm, registry} {
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("%v: run make integration, which installs it", err)
		}
	}
	return npm, registry
}

func freePort(t *testing.T) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

func spawn(t *testing.T, name string, env []string, argv ...string) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	start(t, name, cmd)
}

// start runs a process group until the test ends and shows what it said when
// the test failed.
func start(t *testing.T, name string, cmd *exec.Cmd) {
	t.Helper()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, said.Bytes()[:min(said.Len(), 4000)])
		}
	})
}

// awaitPort returns when something accepts connections there.
func awaitPort(t *testing.T, name string, port int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			conn.Close()
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s does not listen on port %d: %v", name, port, err)
		case <-tick.C:
		}
	}
}
