package executor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"toolcrib/tools/agents/internal/inside"
	"toolcrib/tools/agents/internal/model"
)

// claude is Claude Code as claude -p.
type claude struct{}

func (claude) job(e *Executor, b brief) inside.Job {
	server := object{"type": "stdio", "command": "@@tools@@", "args": toolArgs(), "alwaysLoad": true} // no search for them
	args := []string{
		"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
		"--mcp-config", encode(object{"mcpServers": object{serverName: server}}), "--strict-mcp-config",
		"--setting-sources", "", "--disable-slash-commands", "--no-session-persistence",
	}
	if e.OwnTools {
		args = append(args, "--append-system-prompt", b.system, "--permission-mode", "bypassPermissions")
	} else {
		args = append(args, "--system-prompt", b.system, "--tools", "", "--allowedTools", "mcp__"+serverName)
	}
	if e.Model != "" {
		args = append(args, "--model", e.Model)
	}
	if b.thinking != "" && b.thinking != "off" {
		args = append(args, "--effort", b.thinking)
	}
	if b.cost > 0 {
		args = append(args, "--max-budget-usd", fmt.Sprint(b.cost))
	}
	env := []string{
		"CLAUDE_CONFIG_DIR=@@dir@@", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1",
		fmt.Sprintf("MCP_TOOL_TIMEOUT=%d000", waits),
	}
	switch {
	case strings.HasPrefix(e.Key, "sk-ant-oat"): // of claude setup-token
		env = append(env, "CLAUDE_CODE_OAUTH_TOKEN="+e.Key)
	case e.Key != "":
		env = append(env, "ANTHROPIC_API_KEY="+e.Key)
	}
	return inside.Job{Args: args, Env: env, Input: b.task}
}

func (claude) reader() reader { return &claudeReader{} }

type claudeReader struct{ use model.Use }

// claudeLine is the part of its lines that is read.
type claudeLine struct {
	Type    string
	Subtype string
	Parent  string `json:"parent_tool_use_id"`
	Model   string
	Message struct {
		Content json.RawMessage
	}
	Event struct {
		Type    string
		Message struct {
			Model string
			Usage *claudeUse
		}
		Usage *claudeUse
	}
	Result string
	Failed bool    `json:"is_error"`
	Cost   float64 `json:"total_cost_usd"`
	Usage  *claudeUse
	Errors []string
}

type claudeUse struct {
	In         int `json:"input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	Out        int `json:"output_tokens"`
	Details    struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u *claudeUse) use() model.Use {
	return model.Use{In: u.In, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Out: u.Out, Thinking: u.Details.Thinking}
}

func (r *claudeReader) read(line []byte) ([]event, error) {
	var l claudeLine
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, err
	}
	if l.Parent != "" { // of an agent of its own
		return nil, nil
	}
	switch l.Type {
	case "stream_event":
		return r.stream(l), nil
	case "assistant", "user":
		return blocksOf(l.Message.Content), nil
	case "result":
		end := &ending{cost: l.Cost}
		if l.Usage != nil {
			use := l.Usage.use()
			end.use = &use
		}
		switch {
		case strings.HasPrefix(l.Subtype, "error_max_"):
			end.limit = strings.ReplaceAll(strings.TrimPrefix(l.Subtype, "error_max_"), "_", " ")
		case l.Failed || l.Subtype != "success":
			end.failed = strings.Join(append([]string{cmp.Or(l.Result, l.Subtype)}, l.Errors...), "; ")
		}
		return []event{{end: end}}, nil
	}
	return nil, nil
}

// stream reads how a turn begins and what it has used. What it says comes whole too.
func (r *claudeReader) stream(l claudeLine) []event {
	switch l.Event.Type {
	case "message_start":
		events := []event{{turn: true}}
		if l.Event.Message.Model != "" {
			events = append(events, event{model: l.Event.Message.Model})
		}
		r.use = model.Use{}
		if u := l.Event.Message.Usage; u != nil {
			r.use = u.use()
		}
		return events
	case "message_delta": // the numbers are those of the whole turn; some may be missing
		if u := l.Event.Usage; u != nil {
			use := u.use()
			use.In, use.CacheRead, use.CacheWrite = max(use.In, r.use.In), max(use.CacheRead, r.use.CacheRead), max(use.CacheWrite, r.use.CacheWrite)
			return []event{{use: &use}}
		}
	}
	return nil
}

// blocksOf reads the parts of a message.
func blocksOf(content json.RawMessage) (events []event) {
	var blocks []struct {
		Type, Text, Thinking, ID, Name string
		Input                          json.RawMessage
		Call                           string `json:"tool_use_id"`
		Content                        json.RawMessage
		Failed                         bool `json:"is_error"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return nil // a text, which repeats what it was asked
	}
	for _, b := range blocks {
		switch {
		case b.Type == "text" && b.Text != "":
			events = append(events, event{text: b.Text})
		case b.Type == "thinking" && b.Thinking != "":
			events = append(events, event{thinking: b.Thinking})
		case b.Type == "tool_use" && !ours(b.Name):
			events = append(events, event{call: &model.Call{ID: b.ID, Name: b.Name, Arguments: b.Input}})
		case b.Type == "tool_result":
			events = append(events, event{result: &model.Result{ID: b.Call, Text: plain(b.Content), Error: b.Failed}})
		}
	}
	return events
}

// plain returns the text of a content, which is a text or a list of blocks.
func plain(content json.RawMessage) string {
	var whole string
	if json.Unmarshal(content, &whole) == nil {
		return whole
	}
	var blocks []struct{ Text string }
	_ = json.Unmarshal(content, &blocks) // what is none of both has no text
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}
