package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

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
	m := &geminiModel{tool: "mcp_toolcrib_read_file"}
	a, err := b.agent("gemini", m, env.NPM(".bin/node"), env.NPM(".bin/gemini"))
	if err != nil {
		return 0, err
	}
	defer a.close()
	a.env = append(a.env, "GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL="+a.api.URL)
	at := b.servers["catalog"]
	server := map[string]any{"trust": true, "command": at.Command, "args": at.Args}
	if at.URL != "" {
		server = map[string]any{"trust": true, "httpUrl": at.URL, "headers": map[string]any{"Authorization": "Bearer " + at.Token}}
	}
	settings := map[string]any{
		"security":   map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"privacy":    map[string]any{"usageStatisticsEnabled": false},
		"general":    map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"mcpServers": map[string]any{"toolcrib": server},
	}
	if err := os.Mkdir(filepath.Join(a.home, ".gemini"), 0o700); err != nil {
		return 0, err
	}
	for name, value := range map[string]any{"settings.json": settings, "trustedFolders.json": map[string]any{b.dir: "TRUST_FOLDER"}} {
		data, err := json.Marshal(value)
		if err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(a.home, ".gemini", name), data, 0o600); err != nil {
			return 0, err
		}
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
	if !strings.Contains(m.result, "hello, world") {
		return 0, fmt.Errorf("the tool's result did not reach the model: %q; %s", m.result, out)
	}
	if strings.Contains(out, "MCP") || strings.Contains(out, "toolcrib") {
		return 0, fmt.Errorf("it complained: %s", out)
	}
	return m.listed, nil
}

// geminiModel answers as the Gemini API does: it calls the tool once and ends.
type geminiModel struct {
	tool string

	mu     sync.Mutex
	listed int // tools of the server that the model was offered
	result string
}

func (m *geminiModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
		Contents []struct {
			Parts []struct{ FunctionResponse json.RawMessage }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	offered := false
	m.listed = 0
	for _, t := range req.Tools {
		for _, f := range t.FunctionDeclarations {
			offered = offered || f.Name == m.tool
			if strings.HasPrefix(f.Name, "mcp_toolcrib_") {
				m.listed++
			}
		}
	}
	for _, content := range req.Contents {
		for _, part := range content.Parts {
			if part.FunctionResponse != nil {
				m.result = string(part.FunctionResponse)
			}
		}
	}
	part := `{"text":"It greets the world."}`
	if offered && m.result == "" {
		part = `{"functionCall":{"name":"` + m.tool + `","args":{"path":"hello.txt"}}}`
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\n", `{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[`+part+`]}}],`+
		`"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`)
}
