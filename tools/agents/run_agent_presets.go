package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
)

// found is a preset of a call, with the file that it is from; nil = the configuration.
type found struct {
	Preset
	file *presetFile
}

// preset returns that of a name, "" = none. One of the configuration counts before those of
// files, and the user's before one of the workspace.
func (d Deps) preset(ctx context.Context, name string) (found, error) {
	if name == "" {
		return found{}, nil
	}
	set := d.Settings.Now()
	if p, ok := set.Agents.Presets[name]; ok {
		return found{Preset: p}, nil
	}
	files := d.presetFiles(ctx)
	for i, f := range files {
		if f.Name == name && f.err == nil {
			return found{f.bounded(), &files[i]}, nil
		}
	}
	hint := set.presetNames(files)
	for _, f := range files {
		if f.err != nil && strings.TrimSuffix(filepath.Base(f.path), ".md") == name {
			hint = fmt.Sprintf("%s: %s", tools.Visible(f.path), flaw(f.err))
		}
	}
	return found{}, tools.Errorf(tools.NotFound, "no agent is called %q", name).WithHint("%s", hint)
}

// bounded returns the preset of a file. One of the workspace has no limit above the usual ones.
func (f presetFile) bounded() Preset {
	p := Preset{
		Description: f.Description, System: f.System, Tools: f.Tools, Models: f.Models, MaxRounds: f.MaxRounds, MaxTokens: f.MaxTokens,
		MaxCost: f.MaxCost, Timeout: f.Timeout, Temperature: f.Temperature, Thinking: f.Thinking,
	}
	if f.foreign {
		p.MaxRounds, p.MaxTokens = least(p.MaxRounds, usualRounds), least(p.MaxTokens, usualTokens)
		p.Timeout = least(p.Timeout, usualTime)
	}
	p.Timeout = min(p.Timeout, mostTime)
	return p
}

// least returns a limit that is at most the usual one; 0 = not said.
func least[N int | time.Duration](said, usual N) N {
	if said >= usual {
		return 0
	}
	return said
}

// fit makes the preset of a file one that can run here: with the names of our tools, and of
// models of the configuration. notes are what was left out, or not understood.
func (a *agents) fit(ctx context.Context, p found, asked []string) (Preset, []string, error) {
	if p.file == nil {
		return p.Preset, nil, nil
	}
	f, set := p.file, a.Settings.Now()
	var notes []string
	note := func(what string, list []string) {
		if len(list) > 0 {
			notes = append(notes, tools.Visible(what+": "+strings.Join(list, ", ")))
		}
	}
	note(f.Name+" has fields that mean nothing here", f.Unknown)
	known, unknown := set.known(p.Models)
	note("no models are called so, and others are asked", unknown)
	p.Models = known
	if len(asked) > 0 {
		return p.Preset, notes, nil
	}
	all, missing, err := a.named(ctx, p.Tools)
	if err != nil {
		return Preset{}, nil, err
	}
	note("not understood as tools", missing)
	chosen := choice{}
	if p.Tools == nil || len(all) > 0 {
		if chosen, err = a.chosen(ctx, all); err != nil {
			return Preset{}, nil, err
		}
	}
	without, missing, err := a.named(ctx, f.Without)
	if err != nil {
		return Preset{}, nil, err
	}
	note("not understood as tools that it must not have", missing)
	barred, err := a.chosenNames(ctx, without)
	if err != nil {
		return Preset{}, nil, err
	}
	var more []string
	p.Tools = []string{}
	for _, t := range chosen.tools {
		switch {
		case barred[t.Name]:
		case f.foreign && chosen.byName[t.Name].Access != tools.Read:
			more = append(more, t.Name)
		default:
			p.Tools = append(p.Tools, t.Name)
		}
	}
	note("the preset comes with the workspace, so only the argument tools can give it these", more)
	if len(p.Tools) == 0 {
		return Preset{}, nil, tools.Errorf(tools.InvalidArgument, "%s gives its agent no tool (%s)", tools.Visible(f.path), strings.Join(notes, "; ")).
			WithHint("name tools in the argument tools")
	}
	return p.Preset, notes, nil
}

// named returns what a list means: names of tools and toolsets. Those of other systems count;
// what names a part of a tool, or one of another server, is missing.
func (a *agents) named(ctx context.Context, list []string) (known, missing []string, err error) {
	if len(list) == 0 {
		return nil, nil, nil
	}
	there, err := a.Caller.Tools(ctx)
	if err != nil {
		return nil, nil, err
	}
	names, err := a.Caller.Names(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range list {
		plain := strings.TrimPrefix(name, "mcp__toolcrib__")
		if slices.ContainsFunc(there.Enabled, func(t tools.Tool) bool { return t.Category == plain }) {
			known = append(known, plain)
		} else if t, err := names.Find(plain, json.RawMessage("{}")); err == nil && a.Caller.Refusal(ctx, t) == "" {
			known = append(known, t.Name)
		} else {
			missing = append(missing, name)
		}
	}
	return known, missing, nil
}

// chosenNames returns which tools are meant by names and toolsets.
func (a *agents) chosenNames(ctx context.Context, names []string) (map[string]bool, error) {
	set := map[string]bool{}
	if len(names) == 0 {
		return set, nil
	}
	c, err := a.chosen(ctx, names)
	for name := range c.byName {
		set[name] = true
	}
	return set, err
}

// presetNames lists the presets.
func (set *Settings) presetNames(files []presetFile) string {
	var lines []string
	add := func(name, description string) {
		lines = append(lines, oneLine(strings.TrimSuffix(name+": "+description, ": "), 200))
	}
	for name, p := range set.Agents.Presets {
		add(name, p.Description)
	}
	for _, f := range files {
		if f.err == nil {
			add(f.Name, f.Description)
		}
	}
	if len(lines) == 0 {
		return "there is no preset: leave agent out"
	}
	slices.Sort(lines)
	return tools.Visible("there are " + strings.Join(slices.Compact(lines), "; "))
}
