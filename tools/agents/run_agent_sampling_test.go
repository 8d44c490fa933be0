package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/agents"
	"toolcrib/tools/agents/internal/model"
)

// newSampling is an agency whose model is that of the client, which answers so, one answer after
// the other. asked are the params.
func newSampling(t *testing.T, withTools bool, answers ...string) (a *agency, asked *[]string) {
	t.Helper()
	a = newAgency(t)
	asked = new([]string)
	set := a.deps.Settings.New().(*agents.Settings)
	set.Agents.Models = map[string]model.Endpoint{"main": set.Agents.Models["main"], "theirs": {Provider: "client", Model: "clever"}}
	a.deps.Settings.Apply(set, tools.Setup{})
	a.session.Client.Sampling, a.session.Client.SamplingTools = true, withTools
	a.session.Sample = func(_ context.Context, params any) (json.RawMessage, error) {
		data, err := json.Marshal(params)
		if err != nil {
			return nil, err
		}
		*asked = append(*asked, string(data))
		answer := answers[len(*asked)-1]
		if answer == "" {
			return nil, errors.New("the user said no")
		}
		return json.RawMessage(answer), nil
	}
	return a, asked
}

func TestRunAgentSampling(t *testing.T) {
	a, asked := newSampling(t, true,
		`{"role":"assistant","model":"clever-2","stopReason":"toolUse","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"look","input":{"text":"a"}},{"type":"tool_use","id":"c2","name":"fail","input":{}}]}`,
		`{"role":"assistant","model":"clever-2","stopReason":"endTurn","content":{"type":"text","text":"Done."}}`)
	a.want(t, `{"task":"find it","model":"theirs"}`, "completed; run ", "2 rounds, about ", "\n\nDone.\n")
	for _, part := range []string{
		`{"role":"user","content":{"type":"text","text":"find it"}}`, `"systemPrompt":"You work on a task`, `"hints":[{"name":"clever"}]`, `"name":"look","description"`, `"inputSchema":{`, `"maxTokens":8192`,
	} {
		if !strings.Contains((*asked)[0], part) {
			t.Errorf("the first request has no %s: %s", part, (*asked)[0])
		}
	}
	for _, part := range []string{
		`{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"look","input":{"text":"a"}},`,
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"c1","content":[{"type":"text","text":"did a"}]},{"type":"tool_result","toolUseId":"c2",`, `"isError":true}]}]`,
	} {
		if !strings.Contains((*asked)[1], part) {
			t.Errorf("the second request has no %s: %s", part, (*asked)[1])
		}
	}
	if len(a.model.requests) > 0 {
		t.Error("another model was asked")
	}
}

// A client whose model takes no tools can still answer; one that offers nothing is told plainly.
func TestRunAgentSamplingLess(t *testing.T) {
	const said = `{"role":"assistant","model":"m","content":{"type":"text","text":"Said."}}`
	a, asked := newSampling(t, false, said)
	a.want(t, `{"task":"t","model":"theirs"}`, "completed", "note: the client's model takes no tools, so that the agent had none\n", "Said.")
	if strings.Contains((*asked)[0], `"tools"`) || strings.Contains((*asked)[0], "toolChoice") {
		t.Errorf("tools were sent to a client that takes none: %s", (*asked)[0])
	}
	if _, err := a.call(t.Context(), `{"task":"t","model":"theirs","tools":["look"]}`); tools.AsError(err).Code != tools.Unavailable || !strings.Contains(err.Error(), "takes no tools") {
		t.Errorf("with tools: %v", err)
	}
	a.session.Sample = nil
	if _, err := a.call(t.Context(), `{"task":"t","model":"theirs"}`); tools.AsError(err).Code != tools.Unavailable || !strings.Contains(err.Error(), "does not offer sampling during a call") {
		t.Errorf("without sampling: %v", err)
	}
	set := *a.deps.Settings.Now()
	set.Agents.Presets = map[string]agents.Preset{"both": {Models: []string{"theirs", "main"}}}
	a.deps.Settings.Apply(&set, tools.Setup{})
	a.model.always = "Mine."
	a.want(t, `{"task":"t","agent":"both"}`, "note: the client does not offer sampling during a call, so that another model was asked\n", "Mine.")
}

// What a client answers that is no answer, or its user's no, is not asked for again; another
// model goes on.
func TestRunAgentSamplingRefused(t *testing.T) {
	for answer, want := range map[string]string{
		"": "the user said no", "[]": "is no message", `{"content":"text"}`: "has no content", `{"content":{"type":"image"}}`: "has no text",
	} {
		a, asked := newSampling(t, true, answer, answer)
		a.want(t, `{"task":"t","model":"theirs"}`, "failed: clever of the client: not sampled: ", want)
		if len(*asked) != 1 {
			t.Errorf("%q: asked %d times", answer, len(*asked))
		}
		set := *a.deps.Settings.Now()
		set.Agents.Presets = map[string]agents.Preset{"both": {Models: []string{"theirs", "main"}}}
		a.deps.Settings.Apply(&set, tools.Setup{})
		a.model.always = "Mine."
		a.want(t, `{"task":"t","agent":"both"}`, "completed", "Mine.")
	}
}
