// Package protocol has the figures of a server as a client sees it: how fast it starts
// and answers, what order its messages have, how it takes wrong and hostile requests,
// and the conformance suite.
//
// Start at [Calls]. It imports the harness, rawhttp and packages of the server, and no
// other figures.
package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"toolcrib/.ci/measure/harness"
	"toolcrib/server"
	"toolcrib/server/cli"
	served "toolcrib/server/conformance"
	"toolcrib/server/run"
	"toolcrib/tools/catalog"
)

// revisions are those that the conformance suite holds a server to, with how
// many scenarios it requires of a server and how many more it runs.
var revisions = []struct {
	name               string
	required, unscored int
}{{"2025-11-25", 30, 3}, {"2026-07-28", 37, 12}}

// notOffered begins the names of scenarios that are not counted, with the reason.
var notOffered = map[string]string{
	"tasks-status-notifications": "the suite has no check for it yet",
	"sep-2640-":                  "optional extension io.modelcontextprotocol/skills, not offered",
}

// informative are scenarios that this server passes without a judged check,
// with the reason. Any other one without such a check has not passed.
var informative = map[string]string{
	"server-sse-polling": "a response that nothing precedes is JSON, so there is no stream to resume",
}

// httpAlone are the scenarios and checks of what only HTTP has, with the
// reason. Over the bridge they would judge the bridge.
var httpAlone = map[string]string{
	"dns-rebinding-protection":                                 "headers Host and Origin",
	"server-session-lifecycle":                                 "header Mcp-Session-Id, DELETE",
	"server-sse-polling":                                       "events of a stream, Last-Event-ID",
	"http-header-validation":                                   "headers Mcp-Method and Mcp-Name",
	"http-custom-header-server-validation":                     "headers Mcp-Param-*",
	"server-session-id-visible-ascii":                          "header Mcp-Session-Id",
	"tasks-headers-reject-mismatched-method":                   "header Mcp-Method",
	"sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get": "header Mcp-Name",
	"sep-2575-http-server-header-mismatch-400":                 "header MCP-Protocol-Version",
	"sep-2575-http-server-meta-invalid-400":                    "status of a response; its error code is judged",
	"sep-2575-http-server-unsupported-version-400":             "status of a response; its error code is judged",
	"sep-2575-missing-capability-http-400":                     "status of a response; its error code is judged",
}

// Conformance runs the conformance suite against one server over HTTP, and
// again over stdio by way of a bridge, five times in a row.
func Conformance(ctx context.Context, env harness.Environment) error {
	dir, err := harness.Sample()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program := []string{self, "fixtures", "serve", "--state-dir", env.State, dir}
	err = errors.Join(conformanceHTTP(ctx, env, program), conformanceStdio(ctx, env, program))
	printReasons("passed with nothing judged", informative)
	printReasons("not counted", notOffered)
	printReasons("not judged over stdio, since HTTP alone has it", httpAlone)
	return err
}

func conformanceHTTP(ctx context.Context, env harness.Environment, program []string) error {
	server, err := harness.Listen(ctx, false, append(program, "--http", "127.0.0.1:0", "--auth", "none")...)
	if err != nil {
		return err
	}
	return errors.Join(suiteRuns(ctx, env, "HTTP", server.URL, nil), server.Stop())
}

func conformanceStdio(ctx context.Context, env harness.Environment, program []string) error {
	b, err := newBridge(program...)
	if err != nil {
		return err
	}
	return errors.Join(suiteRuns(ctx, env, "stdio", b.url, httpAlone), b.close())
}

func printReasons(title string, reasons map[string]string) {
	fmt.Printf("%s:\n", title)
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Printf("  %s: %s\n", name, reasons[name])
	}
}

// suiteRuns runs the suite of every revision several times in a row against a
// URL, leaving out what is named.
func suiteRuns(ctx context.Context, env harness.Environment, transport, url string, leaveOut map[string]string) error {
	lists := map[string]scenarioList{}
	for _, rev := range revisions {
		list, err := scenarios(ctx, env, rev.name)
		if err != nil {
			return err
		}
		if len(list.required) != rev.required || len(list.unscored) != rev.unscored {
			return fmt.Errorf("%s: the suite has %d and %d scenarios, want %d and %d", rev.name, len(list.required), len(list.unscored), rev.required, rev.unscored)
		}
		lists[rev.name] = list
	}
	fmt.Printf("| conformance over %s | run | required passed | unscored passed | checks ok | informative | warnings | failures |\n|---|---|---|---|---|---|---|---|\n", transport)
	var errs []error
	for run := range env.Of(5, 1) {
		for _, rev := range revisions {
			t, err := suiteRun(ctx, env, rev.name, url, lists[rev.name], leaveOut)
			if err != nil {
				return fmt.Errorf("%s: %w", rev.name, err)
			}
			fmt.Printf("| %s | %d | %d/%d | %d/%d | %d | %d | %d | %d |\n", rev.name, run+1,
				t.required.passed, t.required.of, t.unscored.passed, t.unscored.of, t.ok, t.informative, t.warnings, t.failures)
			if len(t.findings) > 0 {
				errs = append(errs, fmt.Errorf("%s over %s, run %d:\n  %s", rev.name, transport, run+1, strings.Join(t.findings, "\n  ")))
			}
		}
	}
	return errors.Join(errs...)
}

// scenarioList lists the suite's scenarios for a server of one revision.
type scenarioList struct{ required, unscored []string }

// scenarios asks the suite for its list.
func scenarios(ctx context.Context, env harness.Environment, revision string) (scenarioList, error) {
	out, err := env.Node(ctx, "", nil, env.NPM(".bin/conformance"), "list", "--requirements", revision)
	if err != nil {
		return scenarioList{}, err
	}
	var list scenarioList
	section := ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		name, isEntry := strings.CutPrefix(strings.TrimSpace(line), "- ")
		switch {
		case line != "" && line[0] != ' ':
			section = line
		case !isEntry:
		case strings.HasPrefix(section, "Server scenarios"):
			list.required = append(list.required, name)
		case strings.HasPrefix(section, "Run and reported"):
			if name, ok := strings.CutSuffix(name, " [server]"); ok && !offersNot(name) {
				list.unscored = append(list.unscored, name)
			}
		}
	}
	return list, nil
}

func offersNot(scenario string) bool {
	for prefix := range notOffered {
		if strings.HasPrefix(scenario, prefix) {
			return true
		}
	}
	return false
}

// suiteTally has the results of one run of the suite.
type suiteTally struct {
	required, unscored                  struct{ passed, of int }
	ok, informative, warnings, failures int
	findings                            []string
}

// suiteRun runs the suite once.
func suiteRun(ctx context.Context, env harness.Environment, revision, url string, list scenarioList, leaveOut map[string]string) (*suiteTally, error) {
	results, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(results)
	// Its exit code speaks of what it requires; the checks are judged here.
	_, failed := env.Node(ctx, "", nil, env.NPM(".bin/conformance"), "server", "--url", url, "--requirements", revision, "--output-dir", results)
	ran, err := readChecks(results)
	if err != nil {
		return nil, err
	}
	if len(ran) == 0 {
		return nil, errors.Join(errors.New("the suite has not run"), failed)
	}
	t := new(suiteTally)
	for _, part := range []struct {
		names []string
		count *struct{ passed, of int }
	}{{list.required, &t.required}, {list.unscored, &t.unscored}} {
		for _, name := range part.names {
			if _, out := leaveOut[name]; out {
				continue
			}
			part.count.of++
			if t.judge(name, ran[name], leaveOut) {
				part.count.passed++
			}
		}
	}
	return t, nil
}

// check is one line of the suite's results.
type check struct {
	ID           string `json:"id"`
	Status       string `json:"status"`
	ErrorMessage string `json:"errorMessage"`
}

// judge counts the checks of a scenario and reports whether it passed: without
// a failure, and without a warning.
func (t *suiteTally) judge(scenario string, checks []check, leaveOut map[string]string) bool {
	before, judged := len(t.findings), 0
	for _, c := range checks {
		if _, out := leaveOut[c.ID]; out {
			continue
		}
		switch c.Status {
		case "SUCCESS":
			judged++
			t.ok++
			continue
		case "INFO":
			t.informative++
			continue
		case "WARNING":
			t.warnings++
		default: // FAILURE, SKIPPED, and what the suite may invent
			t.failures++
		}
		t.findings = append(t.findings, fmt.Sprintf("%s: %s %s: %s", scenario, c.ID, c.Status, c.ErrorMessage))
	}
	if _, known := informative[scenario]; judged == 0 && !known && len(t.findings) == before {
		t.findings = append(t.findings, scenario+": nothing was judged")
	}
	return len(t.findings) == before
}

// resultDir is the name of a directory of results: the scenario and the time.
var resultDir = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// readChecks reads the results of a run by scenario.
func readChecks(dir string) (map[string][]check, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	ran := map[string][]check{}
	for _, e := range entries {
		m := resultDir.FindStringSubmatch(e.Name())
		if m == nil {
			return nil, fmt.Errorf("%s is not a result of the suite", e.Name())
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name(), "checks.json"))
		if err != nil {
			return nil, err
		}
		var checks []check
		if err := json.Unmarshal(data, &checks); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		ran[m[1]] = checks
	}
	return ran, nil
}

// RunFixtures is toolcrib with the fixtures of the conformance suite, which the released
// program does not have.
func RunFixtures(args []string) { asToolcrib(args, served.New()) }

// asToolcrib makes this program toolcrib with fixtures added to its catalog. It does not
// return.
func asToolcrib(args []string, fixtures server.Fixtures) {
	stdout := os.Stdout
	os.Stdout = os.Stderr
	caller := new(run.Caller)
	os.Exit(cli.Main(context.Background(), cli.Process{
		Args: args, Environ: os.Environ(), Stdin: os.Stdin, Stdout: stdout, Stderr: os.Stderr,
		IsTerminal: func(any) bool { return false }, LookPath: exec.LookPath,
		Caller: caller, Categories: catalog.All(&catalog.Services{Caller: caller}), Fixtures: fixtures,
	}))
}
