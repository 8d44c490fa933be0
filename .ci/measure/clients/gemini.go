package clients

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// Gemini has Gemini CLI connect, list and call over both transports. A stand-in
// of its API on loopback plays the model.
func Gemini(ctx context.Context, env harness.Environment) error {
	fmt.Println("| Gemini CLI | connects | lists the tools | calls read_file, the result reaches the model |\n|---|---|---|---|")
	return overEach(ctx, env, func(b *bench) (string, error) {
		listed, err := geminiOver(ctx, env, b)
		return fmt.Sprintf("yes | %d | yes", listed), err
	})
}

func geminiOver(ctx context.Context, env harness.Environment, b *bench) (listed int, err error) {
	m := &script{prefix: "mcp_toolcrib_", uses: []use{{tool: "read_file", args: `{"path":"hello.txt"}`, want: "hello, world"}}}
	a, err := b.agent("gemini", m, env.NPM(".bin/node"), env.NPM(".bin/gemini"))
	if err != nil {
		return 0, err
	}
	defer a.close()
	at := b.servers["catalog"]
	server := object{"trust": true, "command": at.Command, "args": at.Args}
	if at.URL != "" {
		server = object{"trust": true, "httpUrl": at.URL, "headers": object{"Authorization": "Bearer " + at.Token}}
	}
	if err := configureGemini(a, server); err != nil {
		return 0, err
	}
	out, err := a.run(ctx, "mcp", "list")
	if err := wants("mcp list", " - Connected", out, err); err != nil {
		return 0, err
	}
	out, err = a.run(ctx, "-m", "gemini-2.5-flash", "-p", "What does hello.txt say?")
	if err := wants("session", "", out, err); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if u := m.uses[0]; !strings.Contains(u.result, u.want) {
		return 0, fmt.Errorf("the tool's result did not reach the model: %q; %s", u.result, out)
	}
	if strings.Contains(out, "MCP") || strings.Contains(out, "toolcrib") {
		return 0, fmt.Errorf("it complained: %s", out)
	}
	return m.listed, nil
}

// configureGemini has Gemini CLI trust the workspace, use one server, and ask the stand-in.
func configureGemini(a *agent, server object) error {
	a.env = append(a.env, "GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL="+a.api.URL)
	settings := object{
		"security":   object{"auth": object{"selectedType": "gemini-api-key"}},
		"privacy":    object{"usageStatisticsEnabled": false},
		"general":    object{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"mcpServers": object{"toolcrib": server},
	}
	return errors.Join(place(a, ".gemini/settings.json", settings), place(a, ".gemini/trustedFolders.json", object{a.dir: "TRUST_FOLDER"}))
}
