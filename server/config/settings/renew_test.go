package settings_test

import (
	"slices"
	"testing"

	"toolcrib/server/config/settings"
)

type bounded struct {
	Most  int  `json:"most,omitempty"`
	Fixed bool `json:"fixed,omitempty" live:"no"`
}

type section struct {
	Limits bounded `file:"limits" live:"yes"`
	Start  string  `file:"start"`
}

type whole struct {
	Level    string `file:"level" live:"yes"`
	Sections []any  `sections:"yes"`
}

// A reload changes what is live, also in sections, and tells of the rest.
func TestRenew(t *testing.T) {
	running := &section{Limits: bounded{Most: 1}, Start: "a"}
	read := &section{Limits: bounded{Most: 2, Fixed: true}, Start: "b"}
	dst, src := whole{"warn", []any{running}}, whole{"info", []any{read}}
	if kept := settings.Renew(&dst, &src); !slices.Equal(kept, []string{"limits.fixed", "start"}) {
		t.Errorf("kept %q", kept)
	}
	if want := (section{Limits: bounded{Most: 2}, Start: "a"}); *running != want || dst.Level != "info" {
		t.Errorf("got %+v and %q", *running, dst.Level)
	}
	if !read.Limits.Fixed {
		t.Error("what was read has changed")
	}
}
