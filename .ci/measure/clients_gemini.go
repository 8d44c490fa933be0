package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// gemini has Gemini CLI connect, list and call over both transports. A stand-in
// of its API on loopback plays the model.
func gemini(ctx context.Context, env environment) error {
	fmt.Println("| Gemini CLI | connects | lists the tools | calls read_file, the result reaches the model |\n|---|---|---|---|")
	for _, transport := range transports {
		b, err := env.bench(ctx, transport)
		if err != nil {
			return err
		}
		listed, err := geminiOver(ctx, env, b)
		if err := errors.Join(err, b.close()); err != nil {
			return fmt.Errorf("%s: %w", transport, err)
		}
		fmt.Printf("| %s | yes | %d | yes |\n", transport, listed)
	}
	return nil
}

func geminiOver(ctx context.Context, env environment, b *bench) (listed int, err error) {
	home, remove, err := temporary("gemini")
	if err != nil {
		return 0, err
	}
	defer remove()
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
	if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o700); err != nil {
		return 0, err
	}
	for name, value := range map[string]any{"settings.json": settings, "trustedFolders.json": map[string]any{b.dir: "TRUST_FOLDER"}} {
		data, err := json.Marshal(value)
		if err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(home, ".gemini", name), data, 0o600); err != nil {
			return 0, err
		}
	}
	m := &geminiModel{tool: "mcp_toolcrib_read_file"}
	web := httptest.NewServer(m)
	defer web.Close()
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, env.npm(".bin/node"), append([]string{env.npm(".bin/gemini")}, args...)...)
		cmd.Dir = b.dir
		cmd.Env = append(os.Environ(), "HOME="+home, "GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL="+web.URL)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("mcp", "list")
	if err := wants("mcp list", " - Connected", out, err); err != nil {
		return 0, err
	}
	out, err = run("-m", "gemini-2.5-flash", "-p", "What does hello.txt say?")
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
