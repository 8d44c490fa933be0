package server

import (
	"cmp"
	"slices"
	"time"

	"toolcrib/tools"
)

// ToolSettings are the settings of one tool; the zero value leaves what the tool has.
type ToolSettings struct {
	Timeout time.Duration `json:"timeout,omitempty" narrow:"least" jsonschema_description:"how long one attempt may take, such as 30s; an hour at most"`
	Cache   time.Duration `json:"cache,omitempty" narrow:"least" jsonschema_description:"how long a result may be given again while nothing has changed; for tools that only read and give the same twice"`
	MaxText int           `json:"max_text,omitempty" narrow:"least" jsonschema:"minimum=1000,maximum=50000" jsonschema_description:"the most bytes of text in a result"`
}

// Tuned returns the catalog with the settings of single tools put to work.
func (c Config) Tuned(all []tools.Tool) []tools.Tool {
	if len(c.Tool) == 0 {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		t := &all[i]
		set := c.Tool[t.Name]
		t.Timeout = cmp.Or(set.Timeout, t.Timeout)
		t.Cache = cmp.Or(set.Cache, t.Cache)
		t.Limits.Text = cmp.Or(set.MaxText, t.Limits.Text)
	}
	return all
}
