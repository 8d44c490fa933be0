package agents

import (
	"context"
	"maps"
	"slices"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/model"
)

// examine asks every configured model for a word.
func (d Deps) examine(ctx context.Context) []tools.Finding {
	set := d.Settings.Now()
	if len(set.Agents.Models) == 0 {
		return []tools.Finding{{State: tools.Missing, What: "agents", Say: "there is no run_agent, since no model is configured: " + howModel}}
	}
	var found []tools.Finding
	for _, name := range slices.Sorted(maps.Keys(set.Agents.Models)) {
		found = append(found, examineModel(ctx, name, set.Agents.Models[name]))
	}
	return found
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
