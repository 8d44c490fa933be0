package bridge_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// tables are the requests of testdata. The first two were written before there was a
// scoring; what the second misses is not shown, so that nobody tunes for it. The
// third was written afterwards, to see what the others do not.
var tables = []struct {
	file, what string
	judged     bool // by the figure
}{
	{"tuned", "known while the scoring was tuned", true},
	{"held", "held out from tuning", true},
	{"later", "written later, then tuned for", false},
}

// tally counts requests, those whose tool is found first, and in the first three.
type tally struct{ all, first, third float64 }

func (n *tally) count(at int) {
	n.all++
	if at == 0 {
		n.first++
	}
	if at >= 0 && at < 3 {
		n.third++
	}
}

func (n *tally) add(m tally) { *n = tally{n.all + m.all, n.first + m.first, n.third + m.third} }

func (n tally) String() string {
	return fmt.Sprintf("%.0f %% first, %.0f %% in the first three", 100*n.first/n.all, 100*n.third/n.all)
}

// requests yields the wanted tool and the request of each line.
func requests(t *testing.T, half string) func(func(string, string) bool) {
	data, err := os.ReadFile("testdata/" + half + ".tsv")
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(string(data)) {
			wanted, request, ok := strings.Cut(strings.TrimSpace(line), "\t")
			if !ok {
				t.Errorf("%s: no tab in %q", half, line)
			}
			if !yield(wanted, request) {
				return
			}
		}
	}
}

// names returns the tools of a result of search_tools.
func names(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, " ["); ok && !strings.HasPrefix(line, " ") {
			list = append(list, name)
		}
	}
	return list
}

func searched(t *testing.T, ws *workspace.Workspace, search tools.Tool, query string) string {
	t.Helper()
	args, err := json.Marshal(map[string]any{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	res, err := tooltest.Call(t.Context(), ws, search, args)
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	return tooltest.Text(res)
}

// TestRequests finds tools for requests in the words of users, in the catalog beside
// tools of other toolsets that stand for one that has grown.
func TestRequests(t *testing.T) {
	caller := grown(t)
	search := find(t, caller.All, "search_tools")
	ws, _ := tooltest.Tree(t, nil)
	var judged, rest tally
	for _, table := range tables {
		var n tally
		for wanted, request := range requests(t, table.file) {
			found := names(searched(t, ws, search, request))
			at := slices.Index(found, wanted)
			n.count(at)
			if at != 0 && table.file != "held" {
				t.Logf("%q: want %s, got %s", request, wanted, strings.Join(found, " "))
			}
		}
		t.Logf("requests: %.0f among %d tools, %s: %s", n.all, len(caller.All), table.what, n)
		if table.judged {
			judged.add(n)
		} else {
			rest.add(n)
		}
	}
	t.Logf("requests: %.0f written before the scoring: %s", judged.all, judged)
	if judged.all < 80 || judged.first < 0.80*judged.all || judged.third < 0.97*judged.all {
		t.Errorf("%s; want at least 80 requests, 80 %% and 97 %%", judged)
	}
	if rest.first < 0.75*rest.all || rest.third < 0.95*rest.all {
		t.Errorf("%s of those written later; want 75 %% and 95 %%", rest)
	}
}

// TestNothingFits asks for tools that nobody has, in the catalog as it is and in the one
// that has grown. The requests were written before there was a threshold; half of them are
// held out from its choice.
func TestNothingFits(t *testing.T) {
	big := grown(t)
	small := &tooltest.Caller{}
	small.All = catalog.Tools(catalog.All(&catalog.Services{Caller: small}))
	ws, _ := tooltest.Tree(t, nil)
	for _, caller := range []*tooltest.Caller{small, big} {
		search := find(t, caller.All, "search_tools")
		none := map[string]int{}
		for half, request := range requests(t, "absent") {
			switch refused := strings.HasPrefix(searched(t, ws, search, request), "no tool fits "); {
			case refused:
				none[half]++
			case half == "tuned":
				t.Logf("%q fits a tool", request)
			}
		}
		t.Logf("requests: 30 for tools that nobody has, among %d tools: %d of 15 known and %d of 15 held out are told that none fits", len(caller.All), none["tuned"], none["held"])
		if none["tuned"] < 13 || none["held"] < 11 {
			t.Errorf("among %d tools: %d and %d; want 13 and 11 of 15", len(caller.All), none["tuned"], none["held"])
		}
	}
}
