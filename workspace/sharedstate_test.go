package workspace_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/workspace"
)

func TestStateBase(t *testing.T) {
	tr := newTree(t)
	inside, outside := tr.path("ws/sub/state"), tr.path("state")
	for _, tc := range []struct {
		base     string
		defaults []string
		want     string
		refused  bool
	}{
		{},
		{base: outside, defaults: []string{tr.path("out")}, want: outside},
		{base: inside, defaults: []string{outside}, refused: true},
		{base: tr.path("ws"), refused: true},
		{defaults: []string{outside, tr.path("out")}, want: outside},
		{defaults: []string{inside, outside}, want: outside},
		{defaults: []string{inside, tr.path("two/state")}},
	} {
		w, err := workspace.Open([]string{tr.path("ws"), tr.path("two")}, workspace.Options{StateBase: tc.base, StateDefaults: tc.defaults})
		if tc.refused {
			if e, ok := errors.AsType[*workspace.Error](err); !ok || !errors.Is(err, workspace.ErrStateInside) || !strings.Contains(e.Hint, "--state-dir=") {
				t.Errorf("%+v: %v", tc, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if got := w.StateBase(); got != tc.want {
			t.Errorf("%+v: the base is %s", tc, got)
		}
		d, err := w.State()
		if tc.want == "" {
			if ruleOf(t, err) != workspace.RuleIO {
				t.Errorf("%+v: state in %v, %v", tc, d, err)
			}
			continue
		}
		if err != nil || filepath.Dir(d.Path()) != tc.want {
			t.Errorf("%+v: state in %v, %v", tc, d, err)
		}
	}
}
