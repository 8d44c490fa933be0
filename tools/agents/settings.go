package agents

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/agents/internal/executor"
	"toolcrib/tools/agents/internal/model"
)

// Settings are those of the category.
type Settings struct {
	Agents Agents `file:"agents" help:"agents that run_agent runs: the models that they ask, the programs that work in their place, and presets" live:"yes"`
}

// Agents has the settings that only a file has.
type Agents struct {
	Models    map[string]model.Endpoint    `json:"models,omitempty" jsonschema_description:"language models by names of your choice; without one and without an executor, there is no run_agent"`
	Executors map[string]executor.Executor `json:"executors,omitempty" jsonschema_description:"coding agents of this machine by names of your choice, which work in the place of a model"`
	Default   []string                     `json:"default,omitempty" jsonschema_description:"names of models that are asked when a call names none: the first, and the next if it cannot answer (default the first in the order of their names)"`
	Presets   map[string]Preset            `json:"presets,omitempty" jsonschema_description:"agents by name, for the argument agent of run_agent"`
}

// Preset is what an agent is unless a call says otherwise.
type Preset struct {
	Description string        `json:"description,omitempty" jsonschema_description:"what the agent is for, in a line"`
	System      string        `json:"system,omitempty" jsonschema_description:"instructions for the agent, after toolcrib's own"`
	Tools       []string      `json:"tools,omitempty" jsonschema_description:"names of tools and toolsets that it may call (default all that only read the workspace)"`
	Models      []string      `json:"models,omitempty" jsonschema_description:"names of models, in the order in which they are asked"`
	Executor    string        `json:"executor,omitempty" jsonschema_description:"name of the executor that works in the place of a model"`
	MaxRounds   int           `json:"max_rounds,omitempty" jsonschema:"minimum=1,maximum=100" jsonschema_description:"turns of the model (default 15)"`
	MaxTokens   int           `json:"max_tokens,omitempty" jsonschema:"minimum=1000" jsonschema_description:"tokens in all, without those that the provider's cache gave (default 100000)"`
	MaxCost     float64       `json:"max_cost,omitempty" jsonschema_description:"cost by the prices of the models (default none)"`
	Timeout     time.Duration `json:"timeout,omitempty" jsonschema_description:"time in all, at most 55m (default 10m)"`
	Temperature *float64      `json:"temperature,omitempty" jsonschema_description:"for models that take one"`
	Thinking    string        `json:"thinking,omitempty" jsonschema:"enum=off,enum=low,enum=medium,enum=high" jsonschema_description:"how much the model thinks (default as the model has it)"`
}

// modelsSetting is the setting without which there are no agents, unless there is an executor.
const modelsSetting = "agents.models"

// Has reports whether there is a model to ask, or an executor.
func (set *Settings) Has(setting string) bool {
	return setting == modelsSetting && len(set.Agents.Models)+len(set.Agents.Executors) > 0
}

// Check returns the errors of the settings.
func (set *Settings) Check(tools.Host) (wrong []tools.SettingError) {
	report := func(format string, args ...any) {
		wrong = append(wrong, tools.SettingError{Key: "agents", Err: fmt.Errorf(format, args...), Hint: "toolcrib help agents has an example"})
	}
	for _, name := range slices.Sorted(maps.Keys(set.Agents.Models)) {
		endpoint := set.Agents.Models[name]
		if err := endpoint.Check(); err != nil {
			report("agents.models.%s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set.Agents.Executors)) {
		e := set.Agents.Executors[name]
		if err := e.Check(); err != nil {
			report("agents.executors.%s: %w", name, err)
		}
		if _, also := set.Agents.Models[name]; also {
			report("agents.executors.%s: a model has that name", name)
		}
	}
	known := func(key string, names []string) {
		for _, name := range names {
			if _, ok := set.Agents.Models[name]; !ok {
				report("%s: %w", key, set.noModel(name))
			}
		}
	}
	known("agents.default", set.Agents.Default)
	for _, name := range slices.Sorted(maps.Keys(set.Agents.Presets)) {
		known("agents.presets."+name+".models", set.Agents.Presets[name].Models)
		if e := set.Agents.Presets[name].Executor; e != "" {
			if _, ok := set.Agents.Executors[e]; !ok {
				report("agents.presets.%s.executor: no executor is called %q", name, e)
			}
		}
	}
	return wrong
}

// noModel is the error of a name that no model has.
func (set *Settings) noModel(name string) error {
	names := slices.Concat(slices.Sorted(maps.Keys(set.Agents.Models)), slices.Sorted(maps.Keys(set.Agents.Executors)))
	if near := schema.Misspelt(name, names); near != "" {
		return fmt.Errorf("no model is called %q; did you mean %q", name, near)
	}
	return fmt.Errorf("no model is called %q; there are %v", name, names)
}

// known tells the names of models of the configuration from others.
func (set *Settings) known(names []string) (known, unknown []string) {
	for _, name := range names {
		if _, ok := set.Agents.Models[name]; ok {
			known = append(known, name)
		} else {
			unknown = append(unknown, name)
		}
	}
	return known, unknown
}

// models returns the models with these names; none = those of the settings.
func (set *Settings) models(names []string) ([]model.Endpoint, error) {
	if len(names) == 0 {
		names = set.Agents.Default
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(set.Agents.Models))
		names = names[:min(len(names), 1)]
	}
	var list []model.Endpoint
	for _, name := range names {
		endpoint, ok := set.Agents.Models[name]
		if !ok {
			return nil, tools.Errorf(tools.InvalidArgument, "/model: %v", set.noModel(name))
		}
		list = append(list, endpoint)
	}
	if len(list) == 0 {
		return nil, tools.Errorf(tools.Unavailable, "no model is configured").WithHint("%s", howModel)
	}
	return list, nil
}

const howModel = `add one to the configuration: agents: {models: {main: {provider: anthropic, model: NAME, key: "${ANTHROPIC_API_KEY}"}}}`

const howWorker = howModel + `; or name a coding agent that is installed: agents: {executors: {claude: {kind: claude, key: "${CLAUDE_CODE_OAUTH_TOKEN}"}}}; toolcrib help agents`
