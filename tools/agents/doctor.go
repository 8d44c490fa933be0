package agents

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/executor"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/internal/programs/sandbox"
)

// examine asks every configured model for a word, and looks for the programs of executors.
func (d Deps) examine(ctx context.Context) []tools.Finding {
	set := d.Settings.Now()
	if !set.Has(modelsSetting) {
		return []tools.Finding{{State: tools.Missing, What: "agents", Say: "there is no run_agent, since no model and no executor is configured: " + howWorker}}
	}
	var found []tools.Finding
	for _, name := range slices.Sorted(maps.Keys(set.Agents.Models)) {
		found = append(found, examineModel(ctx, name, set.Agents.Models[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(set.Agents.Executors)) {
		found = append(found, d.examineExecutor(ctx, name, set.Agents.Executors[name]))
	}
	return append(found, d.examinePresets(ctx)...)
}

// examinePresets says what of the files of presets counts, and what is wrong with them.
func (d Deps) examinePresets(ctx context.Context) []tools.Finding {
	set := d.Settings.Now()
	var found []tools.Finding
	taken := map[string]string{}
	for name := range set.Agents.Presets {
		taken[name] = "the configuration"
	}
	for _, f := range d.presetFiles(ctx) {
		state, say := tools.Fine, f.Name
		add := func(format string, args ...any) {
			state = tools.Missing
			say += fmt.Sprintf(format, args...)
		}
		_, unknown := set.known(f.Models)
		switch {
		case f.err != nil:
			state, say = tools.Broken, flaw(f.err)
		case taken[f.Name] != "":
			add(" does not count, since %s has one of this name", taken[f.Name])
		default:
			taken[f.Name] = f.path
			if len(unknown) > 0 {
				add("; no model is called %s", strings.Join(unknown, ", "))
			}
			if len(f.Unknown) > 0 {
				add("; fields that mean nothing here: %s", strings.Join(f.Unknown, ", "))
			}
		}
		found = append(found, tools.Finding{State: state, What: "preset", Say: tools.Visible(f.path + ": " + say)})
	}
	return found
}

func (d Deps) examineExecutor(ctx context.Context, name string, e executor.Executor) tools.Finding {
	f := tools.Finding{State: tools.Broken, What: "executor"}
	path, err := e.Find()
	level, unmade := d.Sandbox.Check(ctx)
	switch {
	case err != nil:
		f.Say = fmt.Sprintf("%s: its program is not found: %v", name, err)
	case unmade != nil:
		f.Say = fmt.Sprintf("%s: %s is found, but %v", name, path, unmade)
	case level == sandbox.Landlock:
		f.Say = name + ": " + path + " is found, but programs have no network at the level landlock of the sandbox"
	default:
		f.State, f.Say = tools.Fine, name+": "+path
	}
	return f
}

func examineModel(ctx context.Context, name string, endpoint model.Endpoint) tools.Finding {
	if endpoint.OfClient() {
		return tools.Finding{State: tools.Fine, What: "model", Say: name + ": " + endpoint.String() + " is asked where a client offers sampling"}
	}
	const patience = 20 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	failed := func(err error) tools.Finding {
		return tools.Finding{State: tools.Broken, What: "model", Say: name + ": " + err.Error()}
	}
	endpoints := []model.Endpoint{endpoint}
	client, err := clientOf(endpoints)
	if err != nil {
		return failed(err)
	}
	defer client.Close()
	begin := time.Now()
	ask := model.Client{Do: client.Do}
	_, _, err = ask.Turn(ctx, endpoints, model.Request{
		Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Text: "Answer with the word ok."}}}},
	}, nil)
	if err != nil {
		return failed(err)
	}
	return tools.Finding{State: tools.Fine, What: "model", Say: name + ": " + endpoint.String() + " answered in " + time.Since(begin).Round(10*time.Millisecond).String()}
}
