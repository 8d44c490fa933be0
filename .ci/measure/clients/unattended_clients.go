package clients

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// object is JSON for a configuration.
type object = map[string]any

// workers are the clients that can run without a user.
func workers() []worker {
	readsAlone := []use{
		{tool: "read_files", args: `{"paths":["hello.txt"]}`, want: "hello, world"},
		{tool: "call_read_tool", args: `{"name":"read_file","arguments":{"path":"hello.txt"}}`, want: "hello, world"},
	}
	return []worker{
		{name: "Claude Code -p", prefix: "mcp__toolcrib__", defers: true, forms: true, setup: setupClaude},
		{name: "Codex exec", prefix: "mcp__toolcrib", forms: true, setup: setupCodex, alone: readsAlone, leave: "--dangerously-bypass-approvals-and-sandbox"},
		{name: "Gemini CLI -p", prefix: "mcp_toolcrib_", hides: 2, setup: setupGemini},
		{name: "qwen-code -p", prefix: "mcp__toolcrib__", defers: true, setup: setupQwen},
		{name: "opencode run", prefix: "toolcrib_", setup: setupOpencode},
		{name: "Continue -p", prefix: "", setup: setupContinue},
	}
}

func setupClaude(env harness.Environment, a *agent, at harness.Endpoint) ([]string, error) {
	program, err := env.ClaudeProgram()
	if err != nil {
		return nil, missing(err.Error())
	}
	a.program = []string{program}
	a.env = append(a.env, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ANTHROPIC_BASE_URL="+a.api.URL, "ANTHROPIC_API_KEY=dummy")
	config := object{"mcpServers": object{"toolcrib": object{"type": "stdio", "command": at.Command, "args": at.Args}}}
	return []string{"-p", "work", "--mcp-config", filepath.Join(a.home, "mcp.json"), "--strict-mcp-config", "--allowedTools", "mcp__toolcrib"},
		place(a, "mcp.json", config)
}

func setupCodex(env harness.Environment, a *agent, at harness.Endpoint) ([]string, error) {
	program, err := codexProgram(env)
	if err != nil {
		return nil, missing(err.Error())
	}
	a.program = []string{program}
	a.env = append(a.env, "CODEX_HOME="+a.home, "NO_COLOR=1")
	quoted, err := json.Marshal(at.Args)
	if err != nil {
		return nil, err
	}
	var config strings.Builder
	fmt.Fprintf(&config, "model_provider = \"standin\"\nmodel = \"stand-in\"\n[model_providers.standin]\nname = \"standin\"\nbase_url = %q\nwire_api = \"responses\"\n[features]\nplugins = false\n", a.api.URL+"/v1")
	fmt.Fprintf(&config, "[mcp_servers.toolcrib]\ncommand = %q\nargs = %s\n", at.Command, quoted)
	return []string{"exec", "--skip-git-repo-check", "work"}, place(a, "config.toml", config.String())
}

func setupGemini(env harness.Environment, a *agent, at harness.Endpoint) ([]string, error) {
	program, err := installed(env, ".bin/gemini")
	if err != nil {
		return nil, err
	}
	a.program = []string{env.NPM(".bin/node"), program}
	return []string{"-m", "gemini-2.5-flash", "-p", "work"}, configureGemini(a, object{"trust": true, "command": at.Command, "args": at.Args})
}

func setupQwen(env harness.Environment, a *agent, at harness.Endpoint) ([]string, error) {
	program, err := installed(env, ".bin/qwen")
	if err != nil {
		return nil, err
	}
	a.program = []string{env.NPM(".bin/node"), program}
	a.env = append(a.env, "OPENAI_API_KEY=dummy", "OPENAI_MODEL=stand-in", "OPENAI_BASE_URL="+a.api.URL+"/v1")
	return []string{"--approval-mode", "yolo", "-p", "work"}, place(a, ".qwen/settings.json", object{
		"security":   object{"auth": object{"selectedType": "openai"}},
		"privacy":    object{"usageStatisticsEnabled": false},
		"general":    object{"enableAutoUpdate": false},
		"telemetry":  object{"enabled": false},
		"mcpServers": object{"toolcrib": object{"trust": true, "command": at.Command, "args": at.Args}},
	})
}

func setupOpencode(env harness.Environment, a *agent, at harness.Endpoint) ([]string, error) {
	program, err := installed(env, ".bin/opencode")
	if err != nil {
		return nil, err
	}
	a.program = []string{program}
	a.env = append(a.env, "OPENCODE_CONFIG="+filepath.Join(a.home, "opencode.json"), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1")
	return []string{"run", "work"}, place(a, "opencode.json", object{
		"autoupdate": false, "share": "disabled", "model": "standin/stand-in", "small_model": "standin/stand-in",
		"provider": object{"standin": object{
			"npm": "@ai-sdk/openai-compatible", "name": "Stand-in",
			"options": object{"baseURL": a.api.URL + "/v1", "apiKey": "dummy"}, "models": object{"stand-in": object{"name": "Stand-in"}},
		}},
		"mcp": object{"toolcrib": object{"type": "local", "command": append([]string{at.Command}, at.Args...), "enabled": true}},
	})
}

func setupContinue(env harness.Environment, a *agent, at harness.Endpoint) ([]string, error) {
	program, err := installed(env, ".bin/cn")
	if err != nil {
		return nil, err
	}
	a.program = []string{env.NPM(".bin/node"), program}
	a.env = append(a.env, "CONTINUE_TELEMETRY_ENABLED=0")
	config := object{ // JSON is YAML
		"name": "unattended", "version": "0.0.1", "schema": "v1",
		"models": []object{{
			"name": "stand-in", "provider": "openai", "model": "stand-in", "apiKey": "dummy", "apiBase": a.api.URL + "/v1",
			"roles": []string{"chat"}, "capabilities": []string{"tool_use"},
		}},
		"mcpServers": []object{{"name": "toolcrib", "command": at.Command, "args": at.Args}},
	}
	return []string{"-p", "--config", filepath.Join(a.home, "config.yaml"), "work"}, place(a, "config.yaml", config)
}
