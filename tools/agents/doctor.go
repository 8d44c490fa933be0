package agents

import (
	"context"
	"fmt"
	"maps"
	"slices"
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
		found = append(found, d.examineExecutor(name, set.Agents.Executors[name]))
	}
	return found
}

func (d Deps) examineExecutor(name string, e executor.Executor) tools.Finding {
	f := tools.Finding{State: tools.Broken, What: "executor"}
	path, err := e.Find()
	switch {
	case err != nil:
		f.Say = fmt.Sprintf("%s: its program is not found: %v", name, err)
	case d.Sandbox.Level() == sandbox.Landlock:
		f.Say = name + ": " + path + " is found, but programs have no network at the level landlock of the sandbox"
	default:
		f.State, f.Say = tools.Fine, name+": "+path
	}
	return f
}

func examineModel(ctx context.Context, name string, endpoint model.Endpoint) tools.Finding {
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
