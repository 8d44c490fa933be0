package shell

import (
	"strconv"

	"toolcrib/schema"
	"toolcrib/tools"
)

// processBy is a part of the name under which another system has one tool for processes and
// jobs, which its action tells apart.
func processBy(values ...string) tools.Foreign {
	return tools.Foreign{Name: "process", By: "action", Values: values}
}

// bashForeign are the names under which other systems run a command.
func bashForeign() []tools.Foreign {
	start := processBy("start", "run", "spawn", "create")
	start.Implied = map[string]any{"background": true}
	return append(tools.Called("Bash", "run_shell_command", "execute_bash", "exec_command", "run_terminal_cmd", "run_in_terminal"), start, tools.Foreign{Name: "start_process", Spellings: []schema.Spelling{
		{Names: []string{"timeout"}, Always: true, Say: "a command that lasts becomes a job by itself", Read: func(map[string]any) (map[string]any, error) { return map[string]any{}, nil }},
	}}, tools.Foreign{Name: "exec", Spellings: []schema.Spelling{
		{Names: []string{"timeout"}, Always: true, Read: inSeconds},
		schema.Dropped("the progress of a command is told by itself", "monitor"),
	}})
}

// inSeconds reads a timeout that is a number of seconds, however large.
func inSeconds(given map[string]any) (map[string]any, error) {
	if n, ok := schema.Int(given["timeout"]); ok {
		return map[string]any{"timeout": strconv.Itoa(n) + "s"}, nil
	}
	return nil, nil
}
