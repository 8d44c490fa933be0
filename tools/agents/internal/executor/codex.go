package executor

import (
	"encoding/json"
	"fmt"

	"toolcrib/tools/agents/internal/inside"
	"toolcrib/tools/agents/internal/model"
)

// codex is Codex as codex exec --json.
type codex struct{}

func (codex) job(e *Executor, b brief) inside.Job {
	// Its own sandbox cannot be made within ours, and nobody approves anything.
	args := []string{
		"exec", "--json", "--skip-git-repo-check", "--ephemeral", "--ignore-user-config", "--ignore-rules", "--dangerously-bypass-approvals-and-sandbox",
		"-c", "developer_instructions=" + encode(b.system),
		"-c", fmt.Sprintf("mcp_servers.%s={command=\"@@tools@@\",args=%s,tool_timeout_sec=%d}", serverName, encode(toolArgs()), waits),
	}
	off := []string{"plugins", "apps", "multi_agent", "goals", "hooks", "image_generation", "browser_use", "computer_use"}
	if !e.OwnTools {
		off = append(off, "shell_tool", "unified_exec", "view_image")
		args = append(args, "-c", `web_search="disabled"`)
	}
	for _, feature := range off {
		args = append(args, "-c", "features."+feature+"=false")
	}
	if e.Model != "" {
		args = append(args, "-m", e.Model)
	}
	if b.thinking != "" && b.thinking != "off" {
		args = append(args, "-c", "model_reasoning_effort="+encode(b.thinking))
	}
	job := inside.Job{Args: args, Env: []string{"CODEX_HOME=@@dir@@", "NO_COLOR=1"}, Input: b.task}
	if e.Key != "" {
		job.Env = append(job.Env, "CODEX_API_KEY="+e.Key)
	}
	if e.Login != "" {
		job.Files = map[string]string{"auth.json": e.Login}
	}
	return job
}

func (codex) reader() reader { return codexReader{} }

type codexReader struct{}

// codexItem is a step of Codex.
type codexItem struct {
	ID, Type, Text, Message, Command string
	Output                           string `json:"aggregated_output"`
	Exit                             *int   `json:"exit_code"`
	Changes, Query                   json.RawMessage
	Status                           string
}

func (codexReader) read(line []byte) ([]event, error) {
	var l struct {
		Type    string
		Item    codexItem
		Message string
		Error   struct{ Message string }
		Usage   *struct {
			In       int `json:"input_tokens"`
			Cached   int `json:"cached_input_tokens"`
			Written  int `json:"cache_write_input_tokens"`
			Out      int `json:"output_tokens"`
			Thinking int `json:"reasoning_output_tokens"`
		}
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, err
	}
	switch l.Type {
	case "item.started":
		return l.Item.begun(), nil
	case "item.completed":
		return l.Item.done(), nil
	case "turn.completed":
		end := &ending{}
		if u := l.Usage; u != nil {
			end.use = &model.Use{In: max(u.In-u.Cached-u.Written, 0), CacheRead: u.Cached, CacheWrite: u.Written, Out: u.Out, Thinking: u.Thinking}
		}
		return []event{{end: end}}, nil
	case "turn.failed":
		return []event{{end: &ending{failed: l.Error.Message}}}, nil
	case "error":
		return []event{{end: &ending{failed: l.Message, working: true}}}, nil // it may try again
	}
	return nil, nil
}

// begun returns the call of an own tool that begins.
func (i codexItem) begun() []event {
	var args object
	switch i.Type {
	case "command_execution":
		args = object{"command": i.Command}
	case "file_change":
		args = object{"changes": i.Changes}
	case "web_search":
		args = object{"query": i.Query}
	default:
		return nil
	}
	return []event{{call: &model.Call{ID: i.ID, Name: i.Type, Arguments: json.RawMessage(encode(args))}}}
}

func (i codexItem) done() []event {
	switch i.Type {
	case "agent_message":
		return []event{{text: i.Text}}
	case "reasoning":
		return []event{{thinking: i.Text}}
	case "command_execution", "file_change", "web_search":
		return []event{{result: &model.Result{ID: i.ID, Text: i.Output, Error: i.Status == "failed" || i.Exit != nil && *i.Exit != 0}}}
	}
	return nil
}
