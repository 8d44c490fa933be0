// Package executor runs the task of an agent by an installed coding agent in the place of a
// model: Claude Code, Codex, Gemini CLI, or a command that speaks lines of JSON.
//
// The program runs in the sandbox. Its own tools are switched off as far as it has flags for
// that; it gets the tools of the run from an MCP server that is this package, so that its calls
// are those of any agent: with the rules, the records and the limits of the run. What it prints
// becomes the records of the run.
//
// Start at [Run.Do]: run.go follows a program and carries out its calls, rounds.go makes records
// of what happens, kinds.go says how each program is started, claude.go and the like read what
// they print, serve.go is the MCP server, program.go the process, prompt.go what the program is
// told. The package imports the loop for its records, and must not import a category.
package executor

import (
	"cmp"
	"fmt"
	"os/exec"
	"strings"

	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/outbound"
)

// Executor is a coding agent of the machine, as the configuration has it.
type Executor struct {
	Kind       string   `json:"kind" jsonschema:"enum=claude,enum=codex,enum=gemini,enum=lines" jsonschema_description:"what it is: Claude Code, Codex, Gemini CLI, or a command that speaks lines of JSON"`
	Program    string   `json:"program,omitempty" jsonschema_description:"the program, by its path or its name on PATH (default claude, codex, gemini)"`
	Args       []string `json:"args,omitempty" jsonschema_description:"more arguments for it"`
	Env        []string `json:"env,omitempty" jsonschema_description:"more variables for it, NAME=VALUE"`
	Model      string   `json:"model,omitempty" jsonschema_description:"the model that it asks (default its own choice)"`
	Key        string   `json:"key,omitempty" secret:"yes" jsonschema_description:"its key: of the service, or the token that claude setup-token prints for those with a subscription"`
	Login      string   `json:"login,omitempty" secret:"yes" jsonschema_description:"in the place of key, the file in which codex or gemini keeps its login: {file: ~/.codex/auth.json}"`
	Hosts      []string `json:"hosts,omitempty" jsonschema_description:"hosts that it reaches besides those of its service, also private ones"`
	OwnTools   bool     `json:"own_tools,omitempty" jsonschema_description:"its own tools for files and commands stay on, for agents whose tools may run programs (default off)"`
	PriceIn    float64  `json:"price_in,omitempty" jsonschema_description:"price of a million tokens read, in the currency of max_cost (default as the program says)"`
	PriceOut   float64  `json:"price_out,omitempty" jsonschema_description:"of a million tokens written"`
	PriceCache float64  `json:"price_cache,omitempty" jsonschema_description:"of a million tokens read from the provider's cache (default price_in)"`
}

// Check returns what is wrong with the settings of an executor.
func (e *Executor) Check() error {
	switch {
	case kinds[e.Kind] == nil:
		return fmt.Errorf("kind %q is none of claude, codex, gemini, lines", e.Kind)
	case e.program() == "":
		return fmt.Errorf("program is missing: the command that speaks lines of JSON")
	case e.Login != "" && e.Kind != "codex" && e.Kind != "gemini":
		return fmt.Errorf("login is for codex and gemini; give %s a key", e.Kind)
	}
	for _, v := range e.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			return fmt.Errorf("env: %q is not NAME=VALUE", name)
		}
	}
	_, err := e.guard()
	return err
}

// program is what is started.
func (e *Executor) program() string {
	if e.Kind == "lines" {
		return e.Program
	}
	return cmp.Or(e.Program, e.Kind)
}

// Find returns the path of the program, for people: the sandbox looks for it itself.
func (e *Executor) Find() (string, error) { return exec.LookPath(e.program()) }

// guard lets the program reach its service, and what the configuration names.
func (e *Executor) guard() (*outbound.Guard, error) {
	return outbound.NewGuard(outbound.Rules{Settings: "agents.executors", Hosts: services[e.Kind], Private: e.Hosts})
}

// services are the hosts that each program needs. What a command needs only its settings say.
var services = map[string][]string{
	"lines":  {"localhost"}, // which is private; no host at all would mean every public one
	"claude": {"api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai"},
	"codex":  {"api.openai.com", "auth.openai.com", "chatgpt.com", "*.chatgpt.com"},
	"gemini": {"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com", "accounts.google.com"},
}

// cost returns what a use costs; said is what the program says.
func (e *Executor) cost(u model.Use, said float64) float64 {
	if e.PriceIn == 0 && e.PriceOut == 0 {
		return said
	}
	at := model.Endpoint{PriceIn: e.PriceIn, PriceOut: e.PriceOut, PriceCache: e.PriceCache}
	return at.Cost(u)
}

// Priced reports whether the cost of a run can be limited.
func (e *Executor) Priced() bool { return e.Kind == "claude" || e.PriceIn != 0 || e.PriceOut != 0 }
