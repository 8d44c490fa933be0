package agents

import (
	"context"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/model"
)

// sampled leaves out the model of the client where the client cannot be asked, or not with the
// tools that the run needs. note says what that changes.
func sampled(ctx context.Context, endpoints []model.Endpoint, chosen choice, s spec) (left []model.Endpoint, _ choice, note string, err error) {
	session := tools.Session(ctx)
	ofClient := func(e model.Endpoint) bool { return e.OfClient() }
	if !slices.ContainsFunc(endpoints, ofClient) || session.Sample != nil && session.Client.SamplingTools {
		return endpoints, chosen, "", nil
	}
	why := "the client does not offer sampling during a call"
	if session.Sample != nil {
		why = "the client's model takes no tools"
	}
	left = slices.DeleteFunc(slices.Clone(endpoints), ofClient)
	switch {
	case len(left) > 0:
		return left, chosen, why + ", so that another model was asked", nil
	case session.Sample == nil || len(s.Tools) > 0 || s.Output != nil:
		return nil, choice{}, "", tools.Errorf(tools.Unavailable, "%s: %s", endpoints[0].String(), why).
			WithHint("name another model in the argument model; the user can configure one: %s", howModel)
	}
	return endpoints, choice{byName: map[string]tools.Tool{}}, why + ", so that the agent had none", nil
}
