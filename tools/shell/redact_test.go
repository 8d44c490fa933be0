package shell_test

import (
	"encoding/json"

	"toolcrib/tools"
)

// redacted is what records may tell of a call now.
func (s server) redacted(tool string, args map[string]any) string {
	s.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, t := range s.all {
		if t.Name != tool {
			continue
		}
		bound, err := t.Bind(raw)
		if err != nil {
			s.t.Fatal(err)
		}
		ctx := tools.WithSession(s.t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: s.ws})
		return string(t.Redacted(ctx, bound))
	}
	s.t.Fatalf("no tool %s", tool)
	return ""
}
