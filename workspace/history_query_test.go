package workspace_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
)

// shown lists the paths of a view that its history tells of, the newest first.
func shown(t *testing.T, w *workspace.Workspace, q workspace.HistoryQuery) (list []string, total int) {
	t.Helper()
	records, total, err := w.History(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		for i, c := range rec.Files {
			p, ok := w.Historical(rec, i)
			if !ok {
				t.Errorf("%s is shown, the view does not hold it", c.Path)
			}
			text := p.String()
			if c.From != "" {
				text += " from " + c.From
			}
			if rec.Hidden > 0 {
				text += " and hidden"
			}
			list = append(list, text)
		}
	}
	return list, total
}

func TestHistoryQuery(t *testing.T) {
	tr := newTree(t)
	tr.link(t, "ws/to_sub", "sub")
	tr.link(t, "ws/to_g", "sub/deep/g")
	w, h := stored(t, tr, workspace.Options{}, "ws", "two")
	record(t, h, "f", "1")
	record(t, h, "sub/deep/g", "2")
	record(t, h, "sub/gone", "3")
	move := appendRecord(t, h,
		workspace.Changed{Kind: workspace.OpMove, Path: "old"},
		workspace.Changed{Kind: workspace.OpMove, Path: "sub/new", From: "old"})
	record(t, h, "subway", "5")
	appendRecord(t, h, workspace.Changed{Kind: workspace.OpMove, Path: tr.path("two/f"), From: "f"})
	record(t, h, "f", "7")
	both := workspace.Record{ID: workspace.NewID(), Time: time.Now(), Files: []workspace.Changed{
		{Kind: workspace.OpWrite, Path: "both"}, {Kind: workspace.OpWrite, Path: tr.path("two/both")},
	}}
	if err := h.Append(t.Context(), both); err != nil {
		t.Fatal(err)
	}
	second, err := w.Narrow([]string{tr.path("two")})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	other, err := workspace.HistoryOf(second)
	if err != nil {
		t.Fatal(err)
	}
	both.Files = []workspace.Changed{{Kind: workspace.OpWrite, Path: tr.path("ws/both")}, {Kind: workspace.OpWrite, Path: "both"}}
	if err := other.Append(t.Context(), both); err != nil {
		t.Fatal(err)
	}
	record(t, other, "f", "8")
	two := tr.path("two/f")
	for _, tc := range []struct {
		path          string
		id            string
		offset, limit int
		want          []string
		total         int
	}{
		{want: []string{two, "both", tr.path("two/both"), "f", two + " from f", "subway", "old", "sub/new from old", "sub/gone", "sub/deep/g", "f"}, total: 9},
		{offset: 2, limit: 2, want: []string{"f", two + " from f"}, total: 9},
		{offset: 8, limit: 5, want: []string{"f"}, total: 9},
		{offset: 10, total: 9},
		{path: ".", want: []string{"both", tr.path("two/both"), "f", two + " from f", "subway", "old", "sub/new from old", "sub/gone", "sub/deep/g", "f"}, total: 8},
		{path: "both", want: []string{"both", tr.path("two/both")}, total: 1},
		{id: both.ID, want: []string{"both", tr.path("two/both")}, total: 1},
		{path: "f", want: []string{"f", two + " from f", "f"}, total: 3},
		{path: "f", offset: 1, limit: 1, want: []string{two + " from f"}, total: 3},
		{path: "sub", want: []string{"old", "sub/new from old", "sub/gone", "sub/deep/g"}, total: 3},
		{path: "to_sub/deep", want: []string{"sub/deep/g"}, total: 1},
		{path: "to_sub/gone", want: []string{"sub/gone"}, total: 1},
		{path: "to_g", want: []string{"sub/deep/g"}, total: 1},
		{path: "old", want: []string{"old", "sub/new from old"}, total: 1},
		{path: two, want: []string{two, two + " from f"}, total: 2},
		{path: "never", total: 0},
		{path: "ub", total: 0},
		{id: move.ID, want: []string{"old", "sub/new from old"}, total: 1},
		{id: move.ID, path: "f", total: 0},
		{id: "0", total: 0},
	} {
		q := workspace.HistoryQuery{ID: tc.id, Offset: tc.offset, Limit: tc.limit}
		if tc.path != "" {
			if q.Path, err = w.Resolve(tc.path); err != nil {
				t.Fatal(err)
			}
		}
		got, total := shown(t, w, q)
		if diff := cmp.Diff(tc.want, got); diff != "" || total != tc.total {
			t.Errorf("%+v: total %d, %s", tc, total, diff)
		}
	}
}

// TestHistoryOfView gives a view what its directories hold and nothing else.
func TestHistoryOfView(t *testing.T) {
	tr := newTree(t)
	w, h := stored(t, tr, workspace.Options{}, "ws", "two")
	record(t, h, "f", "1")
	record(t, h, "sub/deep/g", "2")
	appendRecord(t, h, workspace.Changed{Kind: workspace.OpMove, Path: "f"}, workspace.Changed{Kind: workspace.OpMove, Path: "sub/x", From: "f"})
	v, err := w.Narrow([]string{"sub"})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	inner, err := v.Narrow([]string{"sub/deep"})
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	hv, err := workspace.HistoryOf(inner)
	if err != nil || hv.Folder() != h.Folder() {
		t.Errorf("a view has the history %s, %v", hv.Folder(), err)
	}
	got, total := shown(t, v, workspace.HistoryQuery{})
	if diff := cmp.Diff([]string{"sub/x and hidden", "sub/deep/g"}, got); diff != "" || total != 2 {
		t.Errorf("total %d, %s", total, diff)
	}
	if got, total := shown(t, v, workspace.HistoryQuery{Limit: 1}); len(got) != 1 || total != 2 {
		t.Errorf("limited to one: %v of %d", got, total)
	}
	got, total = shown(t, inner, workspace.HistoryQuery{})
	if diff := cmp.Diff([]string{"sub/deep/g"}, got); diff != "" || total != 1 {
		t.Errorf("total %d, %s", total, diff)
	}
	if a, err := w.State(); err != nil {
		t.Error(err)
	} else if b, err := inner.State(); a != b || err != nil {
		t.Errorf("a view has the state %v, %v", b, err)
	}
}

// TestNoHistory has no place for state.
func TestNoHistory(t *testing.T) {
	tr := newTree(t)
	w := tr.open(t, workspace.Options{StateDefaults: []string{tr.path("ws/state")}}, "ws")
	_, _, err := w.History(t.Context(), workspace.HistoryQuery{})
	if e, ok := errors.AsType[*workspace.Error](err); !ok || e.Rule != workspace.RuleIO || e.Hint == "" {
		t.Errorf("History: %v", err)
	}
	if _, err := kept(w, "x"); ruleOf(t, err) != workspace.RuleIO {
		t.Errorf("Kept: %v", err)
	}
	if _, err := os.Stat(tr.path("ws/state")); err == nil {
		t.Error("state was made inside a root")
	}
}
