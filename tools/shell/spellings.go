package shell

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools/shell/internal/command"
)

// means is what a spelling stands for.
type means = map[string]any

// bashSpellings are the forms that other tools have for a command.
func bashSpellings() []schema.Spelling {
	return append([]schema.Spelling{
		{Names: []string{"command", "args", "arguments"}, Read: bashLine},
		schema.OnlyWith("commands are run by bash; write SHELL -c '...' in the command", "shell", "bash", "/bin/bash", "/usr/bin/bash", "sh", "/bin/sh"),
		schema.Dropped("bash is no login shell here", "login"),
	}, commandSpellings()...)
}

// powershellSpellings are the same for powershell.
func powershellSpellings() []schema.Spelling {
	return append([]schema.Spelling{
		{Names: []string{"command"}, Read: powershellLine},
		schema.OnlyWith("commands are run by PowerShell; bash is another tool", "shell", "powershell", "pwsh", "powershell.exe"),
	}, commandSpellings()...)
}

// commandSpellings are those of every shell.
func commandSpellings() []schema.Spelling {
	const sandboxed = "the sandbox cannot be left; network: true asks for the network, and the rules of the server say what the user is asked"
	return []schema.Spelling{
		{Names: []string{"env"}, Read: envMap},
		schema.Flag(schema.Same(), means{"background": true}, "blocking"),
		schema.Refused(sandboxed, "with_escalated_permissions", "dangerously_disable_sandbox", "unsandboxed", "requires_approval"),
		schema.OnlyWith(sandboxed, "sandbox_permissions", "use_default"),
		schema.Refused("job_input types into a command that runs", "is_input"),
		schema.Refused("a session of another name is a new shell", "reset", "restart"),
		schema.Dropped("a command that lasts becomes a job by itself", "yield_time_ms", "wait_ms_before_async", "block_until_ms"),
		schema.Dropped("a long output is cut, and job_output has the rest", "max_output_tokens", "max_output_length", "max_output_bytes"),
		schema.Dropped("", "verbose_timing", "safe_to_auto_run", "prefix_rule"),
	}
}

// bashLine reads a command that is a list of words. The words of a shell that is given a
// line are that line.
func bashLine(given map[string]any) (map[string]any, error) {
	words, ok := schema.Strings(given["command"])
	line, isText := given["command"].(string)
	more := given["args"]
	if more == nil {
		more = given["arguments"]
	}
	rest, restOK := schema.Strings(more)
	switch {
	case !ok && !isText || more != nil && !restOK:
		return nil, nil
	case isText:
		return joined([]string{line}, rest)
	}
	words = append(words, rest...)
	if len(words) == 3 && isShell(words[0]) && slices.Contains([]string{"-c", "-lc", "-cl", "-l -c"}, words[1]) {
		return means{"command": words[2]}, nil
	}
	return joined(nil, words)
}

func isShell(name string) bool { return slices.Contains([]string{"bash", "sh"}, path.Base(name)) }

// joined puts words behind what is a line already.
func joined(line, words []string) (map[string]any, error) {
	for _, word := range words {
		quoted, err := command.Quote(word)
		if err != nil {
			return nil, err
		}
		line = append(line, quoted)
	}
	return means{"command": strings.Join(line, " ")}, nil
}

// powershellLine reads a command that is a list of words.
func powershellLine(given map[string]any) (map[string]any, error) {
	words, ok := schema.Strings(given["command"])
	if !ok {
		return nil, nil
	}
	if n := len(words); n > 2 && strings.EqualFold(words[n-2], "-Command") || n == 1 {
		return means{"command": words[n-1]}, nil
	}
	return nil, errors.New("give the command line as one text")
}

// envMap reads variables that are the keys of an object.
func envMap(given map[string]any) (map[string]any, error) {
	object, ok := given["env"].(map[string]any)
	if !ok {
		return nil, nil
	}
	list := []string{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch v := object[name].(type) {
		case nil:
		case map[string]any, []any:
			return nil, fmt.Errorf("%s is not a text", name)
		default:
			list = append(list, fmt.Sprintf("%s=%v", name, v))
		}
	}
	return means{"env": list}, nil
}

// outputSpellings are the forms that other tools have for what to wait for.
func outputSpellings() []schema.Spelling {
	return []schema.Spelling{
		{Names: []string{"block", "wait"}, Read: func(given map[string]any) (map[string]any, error) {
			block, ok := schema.Bool(given["block"])
			switch {
			case !ok:
				return nil, nil
			case !block:
				return schema.Same(), nil
			case given["wait"] != nil:
				return means{"wait": given["wait"]}, nil
			}
			return means{"wait": "30s"}, nil
		}},
		schema.Dropped("a long output is cut, and offset has the rest", "max_output_tokens", "max_output_length", "max_output_bytes"),
		schema.Dropped("", "verbose_timing"),
		schema.Refused("all of the output is shown; grep it in a command", "filter"),
	}
}

// inputSpellings are the forms that other tools have for typing.
func inputSpellings() []schema.Spelling {
	return []schema.Spelling{
		schema.Dropped("", "max_output_tokens", "wait_for_prompt", "verbose_timing"),
	}
}

// signals are the other names of signals.
func signals() map[string]string {
	names := map[string]string{"9": "KILL", "15": "TERM", "2": "INT", "1": "HUP", "3": "QUIT"}
	for _, name := range []string{"TERM", "KILL", "INT", "HUP", "QUIT", "STOP", "CONT", "USR1", "USR2"} {
		names["sig"+strings.ToLower(name)] = name
	}
	return names
}
