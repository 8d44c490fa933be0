package shell_test

import (
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/shell"
)

// What is configured bounds jobs, and a time that is out of range is named.
func TestSettings(t *testing.T) {
	s := new(services.Services)
	c := shell.Category(s)
	set := c.Settings.New().(*shell.Settings)
	set.Jobs = shell.Bounds{Foreground: 20 * time.Second, Output: 2, Sessions: 3, Detach: true}
	c.Settings.Apply(set, tools.Setup{Outlasts: true})
	if got := s.Jobs().Options(); got.Foreground != 20*time.Second || got.Output != 2<<20 || got.Shells != 3 || !got.Detached || !set.Outlasts() {
		t.Errorf("%+v", got)
	}
	if wrong := set.Check(tools.Host{}); wrong != nil {
		t.Errorf("%v", wrong)
	}
	for name, b := range map[string]shell.Bounds{
		"foreground": {Foreground: 2 * time.Minute}, "timeout": {Timeout: time.Millisecond}, "keep": {Keep: -time.Hour}, "idle": {Idle: 1000 * time.Hour},
	} {
		wrong := (&shell.Settings{Jobs: b}).Check(tools.Host{})
		if want := "jobs." + name + ": "; len(wrong) != 1 || wrong[0].Key != "jobs" || wrong[0].Error()[:len(want)] != want {
			t.Errorf("%+v: %v", b, wrong)
		}
	}
}
