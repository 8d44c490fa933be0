package shell_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/shell"
)

// bash is the tool that runs lines, with nothing to run them by.
func bash(t testing.TB, d shell.Deps) tools.Tool {
	t.Helper()
	for _, tool := range shell.Tools(d) {
		if tool.Name == "bash" {
			return tool
		}
	}
	t.Fatal("there is no bash")
	return tools.Tool{}
}

// verdictLine is a line of testdata/verdicts.txt.
type verdictLine struct {
	number int
	want   string // a letter for the default table and for each policy
	in     shell.BashIn
}

func readVerdicts(t testing.TB) (lines []verdictLine, policies []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/verdicts.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range strings.Split(string(data), "\n") {
		if rest, ok := strings.CutPrefix(text, "#"); ok || text == "" {
			if n, policy, ok := strings.Cut(strings.TrimSpace(rest), ": "); ok && n == strconv.Itoa(len(policies)+1) {
				policies = append(policies, policy)
			}
			continue
		}
		want, line, _ := strings.Cut(text, " ")
		line = strings.TrimLeft(line, " ")
		if strings.HasPrefix(line, `"`) {
			if unquoted, err := strconv.Unquote(line); err == nil {
				line = unquoted
			} else {
				t.Fatalf("line %d: %v", i+1, err)
			}
		}
		want, network := strings.CutSuffix(want, "+net")
		lines = append(lines, verdictLine{i + 1, want, shell.BashIn{Command: line, Network: network}})
	}
	return lines, policies
}

// The verdicts on command lines are those that were written down by hand, by the default
// table and by three policies.
func TestVerdicts(t *testing.T) {
	lines, policies := readVerdicts(t)
	if len(lines) < 120 || len(policies) != 3 {
		t.Fatalf("%d lines, %d policies", len(lines), len(policies))
	}
	ws, all := treeOf(t), []tools.Tool{bash(t, shell.Deps{})}
	wrong, lax := 0, 0
	for n, policy := range append([]string{"[]"}, policies...) {
		var list []rules.Rule
		if err := json.Unmarshal([]byte(policy), &list); err != nil {
			t.Fatal(err)
		}
		rules, err := rules.New(list, all)
		if err != nil {
			t.Fatal(err)
		}
		r := run.New(run.Config{Settings: run.Settings{Tools: all, Rules: rules}})
		for _, l := range lines {
			args, err := json.Marshal(l.in)
			if err != nil {
				t.Fatal(err)
			}
			session := tools.SessionInfo{Principal: tools.Local, Client: tools.Client{Name: "test", Forms: true}, Workspace: ws}
			x, err := r.Explain(t.Context(), run.Call{Tool: "bash", Args: args, Session: session})
			if err != nil {
				t.Errorf("line %d, %q: %v", l.number, l.in.Command, err)
				continue
			}
			got := map[string]byte{"allow": 'a', "ask": 'q', "deny": 'd'}[x.Verdict]
			if got == l.want[n] {
				continue
			}
			if wrong++; got == 'a' {
				lax++
			}
			t.Errorf("verdicts.txt:%d: policy %d: %c by %s, want %c\n%q\n%s", l.number, n, got, x.Rule, l.want[n], l.in.Command, x)
		}
	}
	t.Logf("%d verdicts on %d lines, %d wrong, %d too lax", 4*len(lines), len(lines), wrong, lax)
}

// A list of what is allowed opens nothing else, whatever stands beside it on the line.
func TestAllowList(t *testing.T) {
	t.Parallel()
	const policy = `[{"verdict":"%s","toolset":["shell"]},{"verdict":"allow","command":["ls *","cat *","grep *"]}]`
	for _, tc := range []struct {
		line    string
		allowed bool
	}{
		{"ls", true},
		{"ls -la | grep x 2>/dev/null", true},
		{"sh -c 'ls; cat x'", true},
		{"cd src && ls", true},
		{"if [ -f x ]; then cat x; fi", true},
		{"ls | sh", false},
		{"ls; bash", false},
		{"ls | bash -s", false},
		{"cat x | sh -x", false},
		{"cat x | env sh", false},
		{"cat <<X | sh\ntouch pwned\nX", false},
		{`ls | sh -c "$X"`, false},
		{`ls; eval "$(cat x)"`, false},
		{`eval "$(cat x)"`, false},
		{"ls > x", false},
		{"ls; > x", false},
		{"cat > ls <<X\nrm x\nX", false},
		{"ls; touch x", false},
		{"ls $(touch x)", false},
		{"trap 'touch x' EXIT; ls", false},
		{"ls() { touch x; }; ls", false},
	} {
		for verdict, wanted := range map[string]string{"deny": "deny", "ask": "ask"} {
			if tc.allowed {
				wanted = "allow"
			}
			x := explain(t, shell.Deps{}, fmt.Sprintf(policy, verdict), shell.BashIn{Command: tc.line})
			if x.Verdict != wanted {
				t.Errorf("%q, else %s: %s\n%s", tc.line, verdict, x.Verdict, x)
			}
		}
	}
}

// explain says what would become of a call of bash.
func explain(t *testing.T, d shell.Deps, policy string, in shell.BashIn) run.Explanation {
	t.Helper()
	return explainCall(t, d, policy, "bash", in)
}

// Beside the line, what a call says of its place counts.
func TestPlanOfPlace(t *testing.T) {
	const policy = `[{"verdict":"deny","command":["rm"]},{"verdict":"deny","path":["secrets"]}]`
	open, none, landlock := sandbox.New(), sandbox.New(), sandbox.New()
	none.Configure(sandbox.Options{Level: sandbox.None})
	landlock.Configure(sandbox.Options{Level: sandbox.Landlock})
	for _, tc := range []struct {
		engine *sandbox.Engine
		in     shell.BashIn
		want   string
	}{
		{open, shell.BashIn{Command: "ls"}, "allow by exec"},
		{landlock, shell.BashIn{Command: "ls"}, "allow by exec"},
		{none, shell.BashIn{Command: "ls"}, "ask by leaves-the-roots"},
		{open, shell.BashIn{Command: "ls", Network: true}, "ask by exec-with-network"},
		{open, shell.BashIn{Command: "ls", Ports: []int{8000}}, "ask by opens-ports"},
		{open, shell.BashIn{Command: "ls", Env: []string{"A=rm"}}, "allow by exec"},
		{open, shell.BashIn{Command: "ls", Env: []string{"PATH=/x"}}, "ask by policy[1]"},
		{open, shell.BashIn{Command: "ls", Env: []string{"BASH_ENV=x.sh"}}, "ask by policy[1]"},
		{open, shell.BashIn{Command: "ls", Env: []string{"BASH_FUNC_ls%%=() { rm x; }"}}, "ask by policy[1]"},
		{open, shell.BashIn{Command: "git log", Env: []string{"GIT_PAGER=rm x"}}, "deny by policy[1]"},
		{open, shell.BashIn{Command: "cat key", Cwd: "secrets"}, "deny by policy[2]"},
		{open, shell.BashIn{Command: "cat ../secrets/key", Cwd: "src"}, "deny by policy[2]"},
		{open, shell.BashIn{Command: "touch ../x", Cwd: "src"}, "allow by exec"},
		{open, shell.BashIn{Command: "touch ../../x", Cwd: "src"}, "ask by leaves-the-roots"},
	} {
		x := explain(t, shell.Deps{Sandbox: tc.engine}, policy, tc.in)
		if got := x.Verdict + " by " + x.Rule; got != tc.want {
			t.Errorf("%+v: %s, want %s\n%s", tc.in, got, tc.want, x)
		}
	}
}

// The explanation shows what a call would run, and the question all that the user
// consents to.
func TestExplanation(t *testing.T) {
	x := explain(t, shell.Deps{}, `[{"verdict":"ask","command":["git push"],"why":"others see it"}]`,
		shell.BashIn{Command: "make && git -C sub push", Cwd: "src", Env: []string{"A=1"}})
	for _, want := range []string{
		"bash: ask, by the rule policy[1]\n", "  why: others see it\n",
		"Run a command: git -C sub push: others see it (rule policy[1]).\ncd src\nenv A=1\nmake && git -C sub push\n",
		"covers: this call again, with the very same arguments\n",
		"runs make\nruns git -C sub push, opens src/sub\n",
		"git -C sub push: ask by policy[1]\n",
	} {
		if !strings.Contains(x.String(), want) {
			t.Errorf("no %q in\n%s", want, x)
		}
	}
}

// The question of a call that opens ports names them, and the network.
func TestExplanationOfPorts(t *testing.T) {
	x := explain(t, shell.Deps{}, `[]`, shell.BashIn{Command: "npm run dev", Network: true, Ports: []int{5173}})
	if want := "open its ports [5173] on 127.0.0.1 for every program of this machine, with the network on:\nnpm run dev"; !strings.Contains(x.String(), want) {
		t.Errorf("no %q in\n%s", want, x)
	}
}

// A session is judged where it has gone to.
func TestPlanOfSession(t *testing.T) {
	s, ctx := start(t), t.Context()
	const policy = `[{"verdict":"deny","path":["secrets"]}]`
	judge := func(want string, in shell.BashIn) {
		t.Helper()
		if got := s.explains(policy, "bash", in); got != want {
			t.Errorf("%+v: %s, want %s", in, got, want)
		}
	}
	read := shell.BashIn{Command: "cat key", Session: "a"}
	judge("allow by exec", read)
	s.want(s.call(ctx, "bash", map[string]any{"command": "mkdir -p secrets sub; cd secrets", "session": "a"}), `session a is in secrets\n$`)
	judge("deny by policy[1]", read)
	judge("allow by exec", shell.BashIn{Command: "cat key", Session: "b"})
	s.want(s.call(ctx, "bash", map[string]any{"command": "cd ../sub", "session": "a"}), `session a is in sub\n$`)
	judge("allow by exec", read)
	judge("deny by policy[1]", shell.BashIn{Command: "cat ../secrets/key", Session: "a"})
}
