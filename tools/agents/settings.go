package agents

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/agents/internal/model"
)

// Settings are those of the category.
type Settings struct {
	Agents Agents `file:"agents" help:"agents that run_agent runs: the models that they ask, and presets" live:"yes"`
}

// Agents has the settings that only a file has.
type Agents struct {
	Models  map[string]model.Endpoint `json:"models,omitempty" jsonschema_description:"language models by names of your choice; without one, there is no run_agent"`
	Default []string                  `json:"default,omitempty" jsonschema_description:"names of models that are asked when a call names none: the first, and the next if it cannot answer (default the first in the order of their names)"`
	Presets map[string]Preset         `json:"presets,omitempty" jsonschema_description:"agents by name, for the argument agent of run_agent"`
}

// Preset is what an agent is unless a call says otherwise.
type Preset struct {
	Description string        `json:"description,omitempty" jsonschema_description:"what the agent is for, in a line"`
	System      string        `json:"system,omitempty" jsonschema_description:"instructions for the agent, after toolcrib's own"`
	Tools       []string      `json:"tools,omitempty" jsonschema_description:"names of tools and toolsets that it may call (default all that only read the workspace)"`
	Models      []string      `json:"models,omitempty" jsonschema_description:"names of models, in the order in which they are asked"`
	MaxRounds   int           `json:"max_rounds,omitempty" jsonschema:"minimum=1,maximum=100" jsonschema_description:"turns of the model (default 15)"`
	MaxTokens   int           `json:"max_tokens,omitempty" jsonschema:"minimum=1000" jsonschema_description:"tokens in all, without those that the provider's cache gave (default 100000)"`
	MaxCost     float64       `json:"max_cost,omitempty" jsonschema_description:"cost by the prices of the models (default none)"`
	Timeout     time.Duration `json:"timeout,omitempty" jsonschema_description:"time in all, at most 55m (default 10m)"`
	Temperature *float64      `json:"temperature,omitempty" jsonschema_description:"for models that take one"`
	Thinking    string        `json:"thinking,omitempty" jsonschema:"enum=off,enum=low,enum=medium,enum=high" jsonschema_description:"how much the model thinks (default as the model has it)"`
}

// Has reports whether there is a model to ask.
func (set *Settings) Has(setting string) bool {
	return setting == "agents.models" && len(set.Agents.Models) > 0
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
	}
	return wrong
}

// noModel is the error of a name that no model has.
func (set *Settings) noModel(name string) error {
	names := slices.Sorted(maps.Keys(set.Agents.Models))
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
