package source

import (
	"fmt"
	"strings"

	"github.com/lustrum-mcp/lustrum/crawler/target"
)

// containers are where clients keep their servers; "*" is any name.
var containers = [][]string{
	{"mcpServers"},                                 // Claude Desktop, Claude Code, Cursor, Windsurf and most others
	{"projects", "*", "mcpServers"},                // Claude Code, servers of one folder
	{"servers"},                                    // VS Code, mcp.json
	{"mcp", "servers"},                             // VS Code, user settings
	{"mcp.servers"},                                // the same, dotted
	{"settings", "mcp", "servers"},                 // VS Code, workspace file
	{"settings", "mcp.servers"},                    // the same, dotted
	{"customizations", "vscode", "mcp", "servers"}, // development containers
	{"context_servers"},                            // Zed
}

// addressKeys name a server's URL. A file that gives several means all.
var addressKeys = []string{"url", "serverUrl", "httpUrl"}

// Config reads the configuration of an MCP client.
func Config(path string) (*File, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	return ParseConfig(path, data)
}

// ParseConfig reads the configuration of an MCP client: Claude Desktop, Claude
// Code, Cursor, Windsurf (mcpServers), VS Code (servers, mcp.servers, in a
// workspace file too), Zed (context_servers) and what is like them.
func ParseConfig(path string, data []byte) (*File, error) {
	docs, err := parse(path, data, parseJSON)
	if err != nil {
		return nil, err
	}
	b := builder{path: path, file: &File{}}
	found := false
	for _, doc := range docs {
		for _, way := range containers {
			err := walk(doc, way, func(servers, parent *node) error {
				found = true
				return b.servers(servers, parent)
			})
			if err != nil {
				return nil, err
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("%s: no MCP servers are named in it: looked for mcpServers, servers, mcp.servers and context_servers", path)
	}
	return b.done(), nil
}

// walk calls f for every value at the end of a way, with the value around it.
func walk(n *node, way []string, f func(value, parent *node) error) error {
	if n == nil || n.kind != object {
		return nil
	}
	for _, m := range n.members {
		if way[0] != "*" && m.key != way[0] {
			continue
		}
		if len(way) > 1 {
			if err := walk(m.value, way[1:], f); err != nil {
				return err
			}
			continue
		}
		if m.value.kind == object || m.value.kind == list {
			if err := f(m.value, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// builder collects what a file names.
type builder struct {
	path string
	file *File
}

// servers reads a map of servers by name, or a list of servers with names.
func (b *builder) servers(servers, parent *node) error {
	off := map[string]bool{}
	for _, name := range items(parent.get("disabledMcpServers")) {
		off[name.text] = true
	}
	for _, m := range servers.members {
		if err := b.server(m.key, m.value, off[m.key]); err != nil {
			return err
		}
	}
	for _, item := range servers.items {
		if err := b.server(item.str("name"), item, off[item.str("name")]); err != nil {
			return err
		}
	}
	return nil
}

func items(n *node) []*node {
	if n == nil {
		return nil
	}
	return n.items
}

func (b *builder) server(name string, n *node, off bool) error {
	switch {
	case n.kind != object:
		b.skip(n, name, NoAddress)
		return nil
	case n.get("command") != nil || n.str("type") == "stdio" || n.str("transport") == "stdio":
		b.skip(n, name, Program)
		return nil
	case off || n.is("disabled", "true") || n.is("enabled", "false"):
		b.skip(n, name, Disabled)
		return nil
	}
	given := false
	for _, key := range addressKeys {
		v := n.get(key)
		if v == nil || v.kind != scalar || v.text == "" {
			continue
		}
		given = true
		if err := b.address(v, name, v.text); err != nil {
			return err
		}
	}
	if !given {
		b.skip(n, name, NoAddress)
	}
	return nil
}

// maxName bounds a name that a file gives a server, in bytes.
const maxName = 128

func clip(name string) string {
	if len(name) > maxName {
		return strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name
}

func (b *builder) at(n *node, name string) string {
	where := fmt.Sprintf("%s:%d", b.path, n.line)
	if name != "" {
		where += " (" + clip(name) + ")"
	}
	return where
}

func (b *builder) skip(n *node, name, reason string) {
	b.file.Skipped = append(b.file.Skipped, Skipped{Source: fmt.Sprintf("%s:%d", b.path, n.line), Name: clip(name), Reason: reason})
}

// address adds a target. A variable is no address; anything else that names no
// single host stops the reading.
func (b *builder) address(n *node, name, raw string) error {
	raw = strings.TrimSpace(raw)
	if variable(raw) {
		b.skip(n, name, Placeholder)
		return nil
	}
	if !strings.Contains(raw, "://") {
		return fmt.Errorf("%s: the address is no absolute http(s) URL: give it with its scheme", b.at(n, name))
	}
	clean, gone := target.WithoutSecrets(raw)
	t, err := target.ParseTarget(clean)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", b.at(n, name), err)
	case t.UserInfo:
		return fmt.Errorf("%s: %w: take them out", b.at(n, name), target.ErrUserInfo)
	}
	if len(gone) > 0 {
		b.file.Notes = append(b.file.Notes, dropped(b.at(n, name), gone))
	}
	return b.add(t, n, name)
}

func (b *builder) add(t target.Target, n *node, name string) error {
	if len(b.file.Targets) == target.MaxTargets {
		return fmt.Errorf("%s: more than %d addresses: split the file", b.path, target.MaxTargets)
	}
	t.Sources = []string{b.at(n, name)}
	b.file.Targets = append(b.file.Targets, t)
	return nil
}

// done merges what names one origin.
func (b *builder) done() *File {
	b.file.Targets = target.Merge(b.file.Targets)
	return b.file
}

// variable reports whether a URL holds one, in braces or, in its host, in the
// way of a shell.
func variable(raw string) bool {
	if _, ok := target.TemplateVariable(raw); ok {
		return true
	}
	_, rest, _ := strings.Cut(raw, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return strings.HasPrefix(raw, "$") || strings.HasPrefix(raw, "%") || strings.ContainsAny(rest, "$%")
}
