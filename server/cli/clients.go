package cli

import (
	"path/filepath"
	"strings"

	"toolcrib/schema"
	"toolcrib/server/cli/internal/clientfile"
	"toolcrib/server/config"
)

// tokenVariable is the variable of the environment that holds the token of a
// server over HTTP. Configurations refer to it; the token is never written.
const tokenVariable = "TOOLCRIB_TOKEN"

// reach is how a client comes to a server: by launching it, or over HTTP.
type reach struct {
	launch
	url   string // "" = launch
	token bool   // requests carry the token
}

// scope is whom a client's configuration is for.
type scope string

// The scopes. A project's file is in its directory.
const (
	userScope    scope = "user"
	projectScope scope = "project"
)

// client is a program that uses servers: the only place that knows its ways.
type client struct {
	id, name string
	binary   string // looked for on PATH
	format   clientfile.Format
	table    string
	user     func(config.Home) string // its file in the scope of the user
	project  string                   // its file in a project; "" = it has none
	entry    func(reach) any          // nil: this reach does not work there
	// command adds a server by the client's own means: a command line or a link.
	// "" = there is none for this. Without a scope it is the client's default.
	command func(name string, s scope, r reach) string
	means   string // who carries the command out
	// expands begins a reference to a variable of the environment in the client's
	// file; "" = the client has no such references.
	expands string
	// rewrites says that the running client keeps its own state in the user's
	// file, and so might write over an edit.
	rewrites bool
	then     string // the user's next step after a change
}

func clients() []client {
	return []client{
		{
			id: "claude-desktop", name: "Claude Desktop", binary: "claude-desktop",
			format: clientfile.JSON, table: "mcpServers",
			user:    func(h config.Home) string { return filepath.Join(h.Config(), "Claude", "claude_desktop_config.json") },
			entry:   func(r reach) any { return stdioOnly(stdioEntry{"", r.Command, r.Args}, r) },
			command: func(string, scope, reach) string { return "" },
			then:    "Restart Claude Desktop.",
		},
		{
			id: "claude-code", name: "Claude Code", binary: "claude",
			format: clientfile.JSON, table: "mcpServers", project: ".mcp.json",
			user:    func(h config.Home) string { return filepath.Join(h.Or("CLAUDE_CONFIG_DIR", h.Dir), ".claude.json") },
			entry:   func(r reach) any { return typed(r, "${"+tokenVariable+"}") },
			command: addToClaude, means: "Claude Code itself", rewrites: true,
			expands: "${",
			then:    "Claude Code reads it when a session starts; /mcp shows the state.",
		},
		{
			id: "vscode", name: "VS Code", binary: "code",
			format: clientfile.JSONC, table: "servers", project: filepath.Join(".vscode", "mcp.json"),
			user:    func(h config.Home) string { return filepath.Join(h.Config(), "Code", "User", "mcp.json") },
			entry:   func(r reach) any { return typed(r, "${env:"+tokenVariable+"}") },
			command: addToCode, means: "VS Code itself",
			expands: "${",
			then:    "The command \"MCP: List Servers\" starts it.",
		},
		{
			id: "cursor", name: "Cursor", binary: "cursor",
			format: clientfile.JSONC, table: "mcpServers", project: filepath.Join(".cursor", "mcp.json"),
			user:    func(h config.Home) string { return filepath.Join(h.Dir, ".cursor", "mcp.json") },
			entry:   cursorEntry,
			command: cursorLink, means: "Cursor, by this link",
			expands: "${",
			then:    "Restart Cursor, and switch the server on in its settings.",
		},
		{
			id: "codex", name: "Codex", binary: "codex",
			format: clientfile.TOML, table: "mcp_servers",
			user: func(h config.Home) string {
				return filepath.Join(h.Or("CODEX_HOME", filepath.Join(h.Dir, ".codex")), "config.toml")
			},
			entry:   codexEntry,
			command: addToCodex, means: "Codex itself",
			then: "Codex reads it when a session starts.",
		},
		{
			id: "gemini", name: "Gemini CLI", binary: "gemini",
			format: clientfile.CommentedJSON, table: "mcpServers", project: filepath.Join(".gemini", "settings.json"),
			user: func(h config.Home) string {
				return filepath.Join(h.Or("GEMINI_CLI_HOME", h.Dir), ".gemini", "settings.json")
			},
			entry:   geminiEntry,
			command: addToGemini, means: "Gemini CLI itself",
			expands: "$",
			then:    "Gemini CLI reads it when a session starts, in folders that it trusts.",
		},
	}
}

// findClient returns the client of an id.
func findClient(id string) (client, error) {
	for _, c := range clients() {
		if c.id == id {
			return c, nil
		}
	}
	ids := clientIDs()
	hint := "there are: " + strings.Join(ids, ", ")
	if near := schema.Nearest(id, ids); near != "" {
		return client{}, config.Usagef(hint, "no client is called %q; did you mean %q", id, near)
	}
	return client{}, config.Usagef(hint, "no client is called %q", id)
}

func clientIDs() []string {
	var ids []string
	for _, c := range clients() {
		ids = append(ids, c.id)
	}
	return ids
}

func (c client) place(name string) clientfile.Entry {
	return clientfile.Entry{Format: c.format, Table: c.table, Name: name}
}

// scopes returns the scopes that the client has.
func (c client) scopes() []scope {
	if c.project == "" {
		return []scope{userScope}
	}
	return []scope{userScope, projectScope}
}

// file returns the client's file in one of its scopes, for a project in dir.
func (c client) file(s scope, h config.Home, dir string) string {
	if s == projectScope {
		return filepath.Join(dir, c.project)
	}
	return c.user(h)
}

// The forms of entries.
type (
	stdioEntry struct {
		Type    string   `json:"type,omitempty" toml:"type,omitempty"`
		Command string   `json:"command" toml:"command"`
		Args    []string `json:"args" toml:"args"`
	}
	httpEntry struct {
		Type    string            `json:"type,omitempty"`
		URL     string            `json:"url,omitempty"`
		HTTPURL string            `json:"httpUrl,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
	}
	codexHTTP struct {
		URL   string `toml:"url"`
		Token string `toml:"bearer_token_env_var,omitempty"`
	}
)

func stdioOnly(e stdioEntry, r reach) any {
	if r.url != "" {
		return nil
	}
	return e
}

// typed is the entry of clients that want to be told the transport. token is how
// they refer to the variable.
func typed(r reach, token string) any {
	if r.url == "" {
		return stdioEntry{"stdio", r.Command, r.Args}
	}
	return httpEntry{Type: "http", URL: r.url, Headers: r.headers(token)}
}

func cursorEntry(r reach) any {
	if r.url == "" {
		return stdioEntry{"stdio", r.Command, r.Args}
	}
	return httpEntry{URL: r.url, Headers: r.headers("${env:" + tokenVariable + "}")}
}

func codexEntry(r reach) any {
	switch {
	case r.url == "":
		return stdioEntry{"", r.Command, r.Args}
	case r.token:
		return codexHTTP{r.url, tokenVariable}
	}
	return codexHTTP{URL: r.url}
}

func geminiEntry(r reach) any {
	if r.url == "" {
		return stdioEntry{"", r.Command, r.Args}
	}
	return httpEntry{HTTPURL: r.url, Headers: r.headers("${" + tokenVariable + "}")}
}

func (r reach) headers(token string) map[string]string {
	if !r.token {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + token}
}
