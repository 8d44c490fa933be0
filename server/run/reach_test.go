package run_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// search_tools lists what can be called, and nothing that is refused in any case.
func TestSearchToolsListsWhatCanBeCalled(t *testing.T) {
	named := func(name string) func(tools.Tool) bool {
		return func(t tools.Tool) bool { return t.Name == name }
	}
	writes := func(t tools.Tool) bool { return t.Access == tools.Write }
	none := func(tools.Tool) bool { return false }
	for _, tc := range []struct {
		name   string
		set    func(*run.Settings, *tools.SessionInfo)
		hidden func(tools.Tool) bool
	}{
		{"default", func(*run.Settings, *tools.SessionInfo) {}, none},
		{"read-only", func(s *run.Settings, _ *tools.SessionInfo) { s.ReadOnly = true }, func(t tools.Tool) bool { return !t.MayRead() }},
		{"excluded", func(s *run.Settings, _ *tools.SessionInfo) { s.Tools = slices.DeleteFunc(s.Tools, named("look")) }, named("look")},
		{"denied by a rule", func(s *run.Settings, _ *tools.SessionInfo) {
			ruled(s, rules.Rule{Verdict: "deny", Access: []string{"write"}})
		}, writes},
		{"denied to somebody else", func(s *run.Settings, _ *tools.SessionInfo) {
			ruled(s, rules.Rule{Verdict: "deny", Access: []string{"write"}, Principal: []string{"bob"}})
		}, none},
		{"denied, and a path besides", func(s *run.Settings, _ *tools.SessionInfo) {
			ruled(s, rules.Rule{Verdict: "deny", Tool: []string{"look"}}, rules.Rule{Verdict: "deny", Path: []string{"secrets"}})
		}, named("look")},
		{"denied but for a path", func(s *run.Settings, _ *tools.SessionInfo) {
			ruled(s, rules.Rule{Verdict: "deny", Access: []string{"write"}}, rules.Rule{Verdict: "allow", Access: []string{"write"}, Path: []string{"drafts"}})
		}, none},
		{"a path", func(s *run.Settings, _ *tools.SessionInfo) {
			ruled(s, rules.Rule{Verdict: "deny", Path: []string{"secrets"}})
		}, none},
		{"asked about", func(s *run.Settings, _ *tools.SessionInfo) {
			ruled(s, rules.Rule{Verdict: "ask", Access: []string{"write"}})
		}, none},
		{"a token that reads", func(_ *run.Settings, info *tools.SessionInfo) {
			info.May = func(t *tools.Tool) bool { return !writes(*t) }
		}, writes},
		{"a client that lacks an ability", func(s *run.Settings, info *tools.SessionInfo) {
			info.Client.Forms = false
			s.Tools = append(s.Tools, tool("survey", tools.Read, tools.None, say("asked"), func(d *tools.Def[In, Out]) {
				d.Needs = []tools.Need{{Client: tools.Elicitation, How: "use another client"}}
			}))
		}, named("survey")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var want []string
			w := newWorld(t, "", func(s *run.Settings, info *tools.SessionInfo) {
				s.Tools = append(s.Tools, tool("look", tools.Read, tools.None, say("seen")))
				tc.set(s, info)
				for _, tool := range s.Tools {
					if !tc.hidden(tool) {
						want = append(want, tool.Name)
					}
				}
			})
			for _, way := range ways {
				var got []string
				for _, page := range []string{`{"limit":50}`, `{"limit":50,"offset":50}`} {
					for line := range strings.Lines(w.do(t, way.call("search_tools", json.RawMessage(page)), tools.Accept, nil)[0]) {
						if name, _, ok := strings.Cut(line, " ["); ok && line[0] != ' ' {
							got = append(got, name)
						}
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: tools (-want +got):\n%s", way.name, diff)
				}
			}
		})
	}
}

// Two tokens of one principal with different grants share no answer, be it kept or in
// flight; with the same grants they do.
func TestGrantsShareNoAnswer(t *testing.T) {
	session := newWorld(t, "", func(*run.Settings, *tools.SessionInfo) {}).session
	all := func(*tools.Tool) bool { return true }
	reads := func(t *tools.Tool) bool { return t.Access == tools.Read }
	for _, tc := range []struct {
		name string
		b    func(*tools.SessionInfo)
		want int // runs
		says string
	}{
		{"no token at all", func(*tools.SessionInfo) {}, 1, "may write"},
		{"a token for everything", func(s *tools.SessionInfo) { s.May = all }, 1, "may write"},
		{"a token to read", func(s *tools.SessionInfo) { s.May = reads }, 2, "may not"},
		{"a client that can do less", func(s *tools.SessionInfo) { s.Client.Forms = false }, 2, "may write"},
	} {
		for _, kept := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				ran := 0
				write := tool("write", tools.Write, tools.Workspace, say("written"))
				survey := tool("survey", tools.Read, tools.None, say("asked"), func(d *tools.Def[In, Out]) {
					d.Needs = []tools.Need{{Client: tools.Elicitation, How: "use another client"}}
				})
				look := tool("look", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
					ran++
					time.Sleep(time.Second)
					if tools.Session(ctx).Allows(&write) {
						return Out{"may write"}, nil
					}
					return Out{"may not"}, nil
				}, repeatable, func(d *tools.Def[In, Out]) { d.Cache = time.Minute })
				r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{look, survey, write}}})
				r.SetGeneration(func() (uint64, bool) { return 1, true })
				a, b := session, session
				tc.b(&b)
				first := r.Start(t.Context(), run.Call{Tool: "look", Args: empty, Session: a})
				synctest.Wait()
				if kept {
					first.Wait()
				}
				if got := ending(r.Run(t.Context(), run.Call{Tool: "look", Args: empty, Session: b})); got != tc.says || ran != tc.want {
					t.Errorf("%s, kept %t: %q after %d runs, want %q after %d", tc.name, kept, got, ran, tc.says, tc.want)
				}
				if got := ending(first.Wait()); got != "may write" {
					t.Errorf("%s, kept %t: the first got %q", tc.name, kept, got)
				}
			})
		}
	}
}
