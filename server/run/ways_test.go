package run_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/schema"
	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/tools/web"
	"toolcrib/workspace"
)

// journal keeps the records of calls.
type journal struct {
	mu   sync.Mutex
	list []run.Record
}

func (r *journal) Record(rec run.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, rec)
	return nil
}

// of returns the records of a tool without what differs from call to call.
func (r *journal) of(t *testing.T, tool string) (list []run.Record) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range r.list {
		if rec.Tool != tool {
			continue
		}
		var args any
		must(t, json.Unmarshal(rec.Arguments, &args))
		if said, is := args.(string); is { // of an unknown tool
			_, args, _ = strings.Cut(said, " ") // how long they were goes by the escapes
		}
		sorted, err := json.Marshal(args)
		must(t, err)
		list = append(list, run.Record{
			Event: rec.Event, Tool: rec.Tool, Access: rec.Access, Effects: rec.Effects, Verdict: rec.Verdict, Rule: rec.Rule,
			Code: rec.Code, Source: rec.Source, Arguments: sorted, Paths: rec.Paths, Changed: rec.Changed,
		})
	}
	return list
}

// nested checks that each call of call_tool has a call inside it on record.
func (r *journal) nested(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, outer := range r.list {
		if delegator(outer.Tool) && !slices.ContainsFunc(r.list, func(in run.Record) bool { return in.Parent == outer.ID }) {
			t.Errorf("call %s has no call inside it on record", outer.ID)
		}
	}
}

// world is the catalog at work in the scene of an example.
type world struct {
	runner  *run.Runner
	session tools.SessionInfo
	log     journal
	dir     string
}

// newWorld builds one in which the first example of a tool can be called; "" = an empty
// one. set gets the tools of the catalog.
func newWorld(t *testing.T, name string, set func(*run.Settings, *tools.SessionInfo)) *world {
	t.Helper()
	w := &world{dir: filepath.Join(t.TempDir(), "ws")}
	must(t, os.Mkdir(w.dir, 0o755))
	caller := new(run.Caller)
	categories := catalog.All(&catalog.Services{Caller: caller, Restarts: true})
	all := catalog.Tools(categories)
	var scene tools.Call
	if tool, ok := catalog.Find(all, name); ok {
		scene = tool.Examples()[0]
		offline(categories)
	}
	old := time.Now().Add(-time.Minute) // or a command may report them as changed
	for name, content := range scene.Files {
		host := filepath.Join(w.dir, filepath.FromSlash(name))
		target, link := strings.CutPrefix(content, "-> ")
		must(t, os.MkdirAll(filepath.Dir(host), 0o755))
		switch {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(host, 0o755))
		case link:
			must(t, os.Symlink(strings.TrimSpace(target), host))
		default:
			must(t, os.WriteFile(host, []byte(content), 0o644))
			must(t, os.Chtimes(host, old, old))
		}
	}
	ws, err := workspace.Open([]string{w.dir}, workspace.Options{StateBase: t.TempDir(), NoSync: true})
	must(t, err)
	t.Cleanup(func() { must(t, ws.Close()) })
	w.session = askable
	w.session.Workspace = ws
	t.Cleanup(func() { must(t, catalog.Close(categories)) })
	if scene.Before != nil {
		must(t, scene.Before(tools.WithSession(t.Context(), &w.session)))
	}
	settings := run.Settings{Tools: all}
	set(&settings, &w.session)
	w.runner = run.New(run.Config{Settings: settings, Caller: caller, Audit: &w.log})
	return w
}

// offline has tools of the web fail at once: examples name the hosts of others.
func offline(categories []tools.Category) {
	for _, c := range categories {
		if c.ID != "web" {
			continue
		}
		set := c.Settings.New().(*web.Settings)
		set.WebHosts, set.Web.Addresses = []string{"nowhere.invalid"}, map[string]string{}
		for _, service := range []string{"duckduckgo", "openverse", "commons", "open-meteo", "geocoding"} {
			set.Web.Addresses[service] = "http://127.0.0.1:1"
		}
		c.Settings.Apply(set, tools.Setup{})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// way is how a tool is called.
type way struct {
	name string
	call func(tool string, args json.RawMessage) run.Call
}

var ways = []way{
	{"directly", func(tool string, args json.RawMessage) run.Call { return run.Call{Tool: tool, Args: args} }},
	{"by call_tool", by("call_tool")},
}

// readWay is for tools that only read.
var readWay = way{"by call_read_tool", by("call_read_tool")}

func by(delegator string) func(tool string, args json.RawMessage) run.Call {
	return func(tool string, args json.RawMessage) run.Call {
		wrapped, err := json.Marshal(map[string]any{"name": tool, "arguments": args})
		if err != nil {
			panic(err) // the arguments of an example are JSON
		}
		return run.Call{Tool: delegator, Args: wrapped}
	}
}

func delegator(tool string) bool { return tool == "call_tool" || tool == "call_read_tool" }

// changing are the parts of results that no two calls have in common.
var changing = regexp.MustCompile(strings.Join([]string{
	`(?m:^\d+@[0-9a-z]+ · .*$)`,                                       // a process of this machine: another one may be the first by then
	`of \d+ processes|\d+% cpu in all`,                                // so many are there, and do so much, at one moment
	`\b\d+@[0-9a-z]+\b( bash .*; exec)?`,                              // a process, which is its shell until it has been executed
	`\b06[0-9a-z]{14}\b`,                                              // ids of changes
	`\bjob[ =][a-z2-7]{8}\b|(?m:^[a-z2-7]{8} [a-z])|\bpy-[a-z2-7]+\b`, // handles
	`\[[a-z2-7]{8}\]|"[a-z2-7]{8}"|\b(memory|id) [a-z2-7]{8}\b`,       // IDs of memories
	`\d\d:\d\d(:\d\d)?Z?|(in|for|after) [0-9.]+ m?s`,                  // times
}, "|"))

// do calls until nothing is asked any more, answering each form by act, and words how
// each pass has ended.
func (w *world) do(t *testing.T, call run.Call, act tools.Action, values map[string]json.RawMessage) (endings []string) {
	t.Helper()
	call.Session = w.session
	for range 4 {
		out := w.runner.Run(t.Context(), call)
		switch {
		case out.Err != nil:
			return append(endings, string(out.Err.Code)+": "+out.Err.Msg)
		case out.Ask == nil:
			return append(endings, changing.ReplaceAllString(text(out), "…"))
		}
		answers := map[string]tools.Answer{}
		for id, form := range out.Ask.Forms {
			endings = append(endings, "asked: "+form.Message)
			answers[id] = tools.Answer{Action: act, Values: values}
		}
		call.Reply = &run.Reply{State: out.Ask.State, Answers: answers}
	}
	t.Errorf("still asked: %q", endings)
	return endings
}

// tree is the files of the world with their contents.
func (w *world) tree(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.WalkDir(w.dir, func(host string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			files[host[len(w.dir):]] = d.Type().String()
			return err
		}
		data, err := os.ReadFile(host)
		files[host[len(w.dir):]] = string(data)
		return err
	}))
	return files
}

// setting is a policy for one tool; ok is false if it says nothing of the call.
type setting struct {
	name string
	ends string // how the last pass begins to end; "" = as the tool wants
	set  func(s *run.Settings, info *tools.SessionInfo, t tools.Tool, paths []schema.PathArg) (ok bool)
}

// ruled puts rules into the settings.
func ruled(s *run.Settings, list ...rules.Rule) bool {
	compiled, err := rules.New(list, s.Tools)
	if err != nil {
		panic(err)
	}
	s.Rules = compiled
	return true
}

func ruledBy(verdict string) func(*run.Settings, *tools.SessionInfo, tools.Tool, []schema.PathArg) bool {
	return func(s *run.Settings, _ *tools.SessionInfo, t tools.Tool, _ []schema.PathArg) bool {
		return ruled(s, rules.Rule{Name: "the-rule", Verdict: verdict, Tool: []string{t.Name}})
	}
}

var policies = []setting{
	{"default", "", func(*run.Settings, *tools.SessionInfo, tools.Tool, []schema.PathArg) bool { return true }},
	{"read-only", "", func(s *run.Settings, _ *tools.SessionInfo, _ tools.Tool, _ []schema.PathArg) bool {
		s.ReadOnly = true
		return true
	}},
	{"excluded", "not_found: ", func(s *run.Settings, _ *tools.SessionInfo, t tools.Tool, _ []schema.PathArg) bool {
		s.Tools = slices.DeleteFunc(s.Tools, func(o tools.Tool) bool { return o.Name == t.Name })
		return true
	}},
	{"allowed by a rule", "", ruledBy("allow")},
	{"denied by a rule", "denied: ", ruledBy("deny")},
	{"asked about", "", ruledBy("ask")},
	{"asked about where nobody can be asked", "denied: ", func(s *run.Settings, info *tools.SessionInfo, t tools.Tool, paths []schema.PathArg) bool {
		info.Client.Forms = false
		return ruledBy("ask")(s, info, t, paths)
	}},
	{"asked about by the client", "", func(s *run.Settings, info *tools.SessionInfo, t tools.Tool, paths []schema.PathArg) bool {
		info.Client.Forms, s.Confirm = false, run.ConfirmClient
		return ruledBy("ask")(s, info, t, paths)
	}},
	{"a path is denied", "denied: ", func(s *run.Settings, _ *tools.SessionInfo, _ tools.Tool, paths []schema.PathArg) bool {
		return len(paths) > 0 && paths[0].Value != "." && ruled(s, rules.Rule{Name: "the-rule", Verdict: "deny", Path: []string{paths[0].Value}})
	}},
	{"a path is asked about", "", func(s *run.Settings, _ *tools.SessionInfo, _ tools.Tool, paths []schema.PathArg) bool {
		return len(paths) > 0 && paths[0].Value != "." && ruled(s, rules.Rule{Name: "the-rule", Verdict: "ask", Path: []string{paths[0].Value}})
	}},
	{"everything is denied", "", func(s *run.Settings, _ *tools.SessionInfo, _ tools.Tool, _ []schema.PathArg) bool {
		return ruled(s, rules.Rule{Name: "the-rule", Verdict: "deny", Path: []string{"**"}})
	}},
	{"a token without it", "denied: ", func(_ *run.Settings, info *tools.SessionInfo, t tools.Tool, _ []schema.PathArg) bool {
		info.May = func(o *tools.Tool) bool { return o.Name != t.Name }
		return true
	}},
}

// TestMain lets the test's own binary run the programs that tools start of it.
func TestMain(m *testing.M) {
	if exit, was := catalog.Program(os.Args[1:]); was {
		syscall.Exit(exit) // without the second that the race detector waits
	}
	os.Exit(m.Run())
}

// Whichever way a tool is called, it ends alike, leaves the same files and is on record
// alike.
func TestSamePolicyBothWays(t *testing.T) {
	all := catalog.Tools(catalog.All(new(catalog.Services)))
	for _, tool := range all {
		if delegator(tool.Name) {
			continue // they do not call each other
		}
		t.Run(tool.Name, func(t *testing.T) {
			t.Parallel()
			bound, err := tool.Bind(tool.Examples()[0].Args)
			must(t, err)
			for _, policy := range policies {
				if !policy.set(&run.Settings{Tools: slices.Clone(all)}, new(tools.SessionInfo), tool, bound.Paths) {
					continue // it says nothing of the call
				}
				t.Run(policy.name, func(t *testing.T) {
					first := bothWays(t, tool, policy, bound.Paths, tools.Accept)
					if !strings.HasPrefix(first[0], "asked: ") {
						return
					}
					got := bothWays(t, tool, policy, bound.Paths, tools.Decline)
					atOnce := strings.HasPrefix(got[1], "not asked: ") // as a tool that only asks reads a form that comes back so soon
					if !strings.HasPrefix(got[1], "declined: ") && !atOnce {
						t.Errorf("declined, and ended in %q", got)
					}
				})
			}
		})
	}
}

// bothWays compares the two ways of a call and returns how it ended.
func bothWays(t *testing.T, tool tools.Tool, policy setting, paths []schema.PathArg, act tools.Action) []string {
	t.Helper()
	var ends [][]string
	var kept [][]run.Record
	var trees []map[string]string
	list := ways
	if tool.Access == tools.Read {
		list = append(slices.Clone(ways), readWay)
	}
	var w *world
	for _, way := range list {
		if w == nil || policy.ends == "" && act == tools.Accept { // what is refused leaves the world as it was
			w = newWorld(t, tool.Name, func(s *run.Settings, info *tools.SessionInfo) {
				policy.set(s, info, tool, paths)
			})
		}
		w.log.list = nil
		got := w.do(t, way.call(tool.Name, tool.Examples()[0].Args), act, nil)
		if last := got[len(got)-1]; act == tools.Accept && !strings.HasPrefix(last, policy.ends) {
			t.Errorf("%s: ended in %q, want %q", way.name, last, policy.ends)
		}
		list := w.log.of(t, tool.Name)
		ends, kept, trees = append(ends, got), append(kept, list), append(trees, w.tree(t))
		w.log.nested(t)
	}
	for i := 1; i < len(list); i++ {
		for what, diff := range map[string]string{
			"endings": cmp.Diff(ends[0], ends[i]),
			"records": cmp.Diff(kept[0], kept[i]),
			"files":   cmp.Diff(trees[0], trees[i]),
		} {
			if diff != "" {
				t.Errorf("%s (-directly +%s):\n%s", what, list[i].name, diff)
			}
		}
	}
	return ends[0]
}
