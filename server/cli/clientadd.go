package cli

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// The commands of clients that add a server to their configuration.

func addToClaude(name string, s scope, r reach) string {
	words := []string{"claude", "mcp", "add"}
	if s != "" {
		words = append(words, "--scope", string(s))
	}
	if r.url == "" {
		return commandLine(append(words, name, "--")...) + " " + r.line()
	}
	words = append(words, "--transport", "http", name, r.url)
	if r.token {
		words = append(words, "--header", "Authorization: Bearer ${"+tokenVariable+"}")
	}
	return commandLine(words...)
}

func addToCodex(name string, _ scope, r reach) string {
	if r.url == "" {
		return commandLine("codex", "mcp", "add", name, "--") + " " + r.line()
	}
	words := []string{"codex", "mcp", "add", name, "--url", r.url}
	if r.token {
		words = append(words, "--bearer-token-env-var", tokenVariable)
	}
	return commandLine(words...)
}

// addToGemini has no command for arguments that Gemini CLI would take for its
// own.
func addToGemini(name string, s scope, r reach) string {
	words := []string{"gemini", "mcp", "add"}
	if s != "" {
		words = append(words, "--scope", string(s))
	}
	if r.url == "" {
		if slices.ContainsFunc(r.Args, func(arg string) bool { return arg == "--" || strings.HasPrefix(arg, "--exclude-tools") }) {
			return ""
		}
		return commandLine(append(words, name)...) + " " + r.line()
	}
	words = append(words, "--transport", "http")
	if r.token {
		words = append(words, "--header", "Authorization: Bearer ${"+tokenVariable+"}")
	}
	return commandLine(append(words, name, r.url)...)
}

func addToCode(name string, s scope, r reach) string {
	if s == projectScope {
		return ""
	}
	entry := compact(typed(r, "${env:"+tokenVariable+"}"))
	return commandLine("code", "--add-mcp", `{"name":`+compact(name)+","+entry[1:])
}

func cursorLink(name string, s scope, r reach) string {
	if s == projectScope {
		return ""
	}
	query := url.Values{"name": {name}, "config": {base64.StdEncoding.EncodeToString([]byte(compact(cursorEntry(r))))}}
	return "cursor://anysphere.cursor-deeplink/mcp/install?" + query.Encode()
}

// compact is a value of ours on one line of JSON.
func compact(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(data)
}
