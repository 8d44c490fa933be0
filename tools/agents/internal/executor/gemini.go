package executor

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolcrib/tools/agents/internal/inside"
	"toolcrib/tools/agents/internal/model"
)

// gemini is Gemini CLI as gemini -o stream-json.
type gemini struct{}

func (gemini) job(e *Executor, b brief) inside.Job {
	settings := object{
		"privacy": object{"usageStatisticsEnabled": false},
		"general": object{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"mcpServers": object{serverName: object{
			"command": "@@tools@@", "args": toolArgs(), "trust": true, "timeout": waits * 1000,
		}},
	}
	auth := "gemini-api-key"
	if e.Login != "" {
		auth = "oauth-personal"
	}
	settings["security"] = object{"auth": object{"selectedType": auth}}
	if !e.OwnTools {
		list := []string{} // of all tools, also those of servers
		for _, name := range b.tools {
			list = append(list, "mcp_"+serverName+"_"+name)
		}
		settings["tools"] = object{"core": list}
	}
	job := inside.Job{
		Args:  []string{"-o", "stream-json", "--skip-trust", "--approval-mode", "yolo"},
		Env:   []string{"HOME=@@dir@@", "GEMINI_CLI_HOME=@@dir@@", "GEMINI_SYSTEM_MD=@@dir@@/system.md", "GEMINI_CLI_NO_RELAUNCH=true"},
		Files: map[string]string{".gemini/settings.json": encode(settings), "system.md": b.system},
		Input: b.task,
	}
	if e.OwnTools { // the instructions for them are its own
		job.Env = job.Env[:2]
		job.Input = b.system + "\n\n" + b.task
	}
	if e.Model != "" {
		job.Args = append(job.Args, "-m", e.Model)
	}
	if e.Key != "" {
		job.Env = append(job.Env, "GEMINI_API_KEY="+e.Key)
	}
	if e.Login != "" {
		job.Files[".gemini/oauth_creds.json"] = e.Login
	}
	return job
}

func (gemini) reader() reader { return &geminiReader{} }

// geminiReader joins the pieces of a message, which come as the model makes them.
type geminiReader struct{ open strings.Builder }

func (r *geminiReader) read(line []byte) ([]event, error) {
	var l struct {
		Type, Role, Content, Model, Status, Output string
		Name                                       string          `json:"tool_name"`
		ID                                         string          `json:"tool_id"`
		Parameters                                 json.RawMessage `json:"parameters"`
		Error                                      struct{ Message string }
		Message                                    string
		Severity                                   string
		Stats                                      *struct {
			In     int `json:"input"`
			Cached int `json:"cached"`
			Out    int `json:"output_tokens"`
		}
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, err
	}
	if l.Type == "message" {
		if l.Role == "assistant" {
			r.open.WriteString(l.Content)
		}
		return nil, nil
	}
	var events []event
	if r.open.Len() > 0 {
		events = append(events, event{text: r.open.String()})
		r.open.Reset()
	}
	switch l.Type {
	case "init":
		events = append(events, event{model: l.Model})
	case "tool_use":
		if !ours(l.Name) {
			events = append(events, event{call: &model.Call{ID: l.ID, Name: l.Name, Arguments: l.Parameters}})
		}
	case "tool_result":
		events = append(events, event{result: &model.Result{ID: l.ID, Text: l.Output, Error: l.Status == "error"}})
	case "error":
		if l.Severity == "error" {
			events = append(events, event{end: &ending{failed: l.Message, working: true}})
		}
	case "result":
		end := &ending{}
		if u := l.Stats; u != nil {
			end.use = &model.Use{In: u.In, CacheRead: u.Cached, Out: u.Out}
		}
		if l.Status != "success" {
			end.failed = fmt.Sprintf("%s %s", l.Status, l.Error.Message)
		}
		events = append(events, event{end: end})
	}
	return events, nil
}
