package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/catalog"
)

// What is enabled and listed follows the flags, and flags beat the environment.
func TestListSelection(t *testing.T) {
	inProject(t)
	const wings = "TOOLCRIB_WINGS=2"
	for _, tt := range []struct {
		name string
		args string
		env  []string
		want []string // name, then whether it is listed
	}{
		{"everything", "", []string{wings}, []string{"dot yes", "echo yes", "erase yes", "fly yes", "quiz yes"}},
		{"a need that is not met", "", nil, []string{"dot yes", "echo yes", "erase yes", "quiz yes"}},
		{"tools", "--tools echo,erase", nil, []string{"echo yes", "erase yes"}},
		{"tools by alias and twice", "--tools say --tools=erase", nil, []string{"echo yes", "erase yes"}},
		{"exclude beats tools", "--tools echo,erase --exclude-tools erase", nil, []string{"echo yes"}},
		{"toolset", "--toolsets cli_test --exclude-tools=quiz,dot", nil, []string{"echo yes", "erase yes"}},
		{"read-only", "--read-only", nil, []string{"dot yes", "echo yes", "quiz yes"}},
		{"minimal shows none of these", "--preset minimal", nil, []string{"dot no", "echo no", "erase no", "quiz no"}},
		{"preset with tools", "--preset=minimal --tools echo", nil, []string{"echo no"}},
		{"environment", "", []string{"TOOLCRIB_TOOLS=echo, dot", "TOOLCRIB_READ_ONLY=1"}, []string{"dot yes", "echo yes"}},
		{"flag beats environment", "--tools erase", []string{"TOOLCRIB_TOOLS=echo"}, []string{"erase yes"}},
		{"false flag beats environment", "--read-only=false --tools erase", []string{"TOOLCRIB_READ_ONLY=true"}, []string{"erase yes"}},
		{"flag hides a bad variable", "--confirm ask --tools erase", []string{"TOOLCRIB_CONFIRM=nonsense"}, []string{"erase yes"}},
		{"empty variable is unset", "--tools erase", []string{"TOOLCRIB_PRESET=", "TOOLCRIB_READ_ONLY="}, []string{"erase yes"}},
		{"the last of two variables", "", []string{"TOOLCRIB_TOOLS=echo", "TOOLCRIB_TOOLS=dot"}, []string{"dot yes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, code := invocation{args: append([]string{"list"}, strings.Fields(tt.args)...), env: tt.env}.start(t)
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			var got []string
			for i, line := range strings.Split(strings.TrimSpace(stdout), "\n") {
				words := strings.Fields(line)
				if i > 0 {
					got = append(got, words[0]+" "+words[len(words)-1])
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestListAll(t *testing.T) {
	stdout, stderr, code := invocation{args: []string{"list", "--all", "--read-only", "--exclude-tools=dot,quiz"}}.start(t)
	want := `
NAME   TITLE         CATEGORY  ACCESS    LISTED
echo   Say it again  cli_test  read      yes
dot    Draw a dot    cli_test  read      off: excluded by --exclude-tools
erase  Erase         cli_test  write     off: the server is read-only (--read-only), and its access is write
fly    Fly           cli_test  external  off: TOOLCRIB_WINGS is not set: buy wings
quiz   Ask           cli_test  read      off: excluded by --exclude-tools
`
	if diff := cmp.Diff(want[1:], stdout); diff != "" || code != 0 || stderr != "" {
		t.Errorf("exit code %d, stderr %q (-want +got):\n%s", code, stderr, diff)
	}
	stdout, stderr, _ = invocation{args: []string{"list", "--tools=echo"}}.start(t)
	if strings.Contains(stdout, "fly") || stderr != "4 more cannot be called here; toolcrib list --all says why\n" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}

// Clients that bring tools of their own are named where they are shown others.
func TestListTailored(t *testing.T) {
	all := catalog.Tools(catalog.All(new(catalog.Services)))
	for args, want := range map[string]bool{"": true, "--preset=default": false, "--preset=companion": false, "--toolsets=files": false, "--exclude-tools=call_tool": false} {
		_, stderr, code := invocation{args: append([]string{"list"}, strings.Fields(args)...), catalog: all}.start(t)
		if got := strings.Contains(stderr, "are shown others (claude-code, "); code != 0 || got != want {
			t.Errorf("list %s: exit code %d, stderr %q", args, code, stderr)
		}
	}
}

func TestListFormats(t *testing.T) {
	for _, format := range []string{"json", "openai", "anthropic", "gemini", "mcp"} {
		for args, want := range map[string]int{"--tools=echo": 1, "--tools=echo --preset=minimal": 0, "--tools=echo --all": 5} {
			stdout, _, code := invocation{args: append([]string{"list", "--format", format}, strings.Fields(args)...)}.start(t)
			if got := strings.Count(stdout, `"description": "Says`); code != 0 || !json.Valid([]byte(stdout)) || got != min(want, 1) {
				t.Errorf("%s %s: exit code %d, echo %d times:\n%s", format, args, code, got, stdout)
			}
			if got := strings.Count(stdout, `"fly"`); got != want/5 {
				t.Errorf("%s %s: fly %d times", format, args, got)
			}
		}
	}
}

func TestUnknownVariables(t *testing.T) {
	env := []string{"TOOLCRIB_TOOLSET=files", "TOOLCRIB_WINGS=2", "TOOLCRIB_PRESET=all", "PATH=x"}
	_, stderr, code := invocation{args: []string{"list"}, env: env}.start(t)
	want := "toolcrib: warning: TOOLCRIB_TOOLSET is not a variable that toolcrib reads; did you mean TOOLCRIB_TOOLSETS\n"
	if diff := cmp.Diff(want, stderr); diff != "" || code != 0 {
		t.Errorf("exit code %d (-want +got):\n%s", code, diff)
	}
}

func TestShow(t *testing.T) {
	page, stderr, code := invocation{args: []string{"show", "echo"}}.start(t)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, stderr %q", code, stderr)
	}
	for _, want := range []string{"Say it again", "Says the text again.", "The manual of echo.", "| `text` | string | required | what to say |"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	if alias, _, _ := (invocation{args: []string{"show", "say"}}).start(t); alias != page {
		t.Errorf("the alias shows another page:\n%s", alias)
	}
}

func TestDocs(t *testing.T) {
	dir := t.TempDir()
	if _, stderr, code := (invocation{args: []string{"docs", dir}}).start(t); code != 0 || stderr != "" {
		t.Fatalf("exit code %d, stderr %q", code, stderr)
	}
	page, err := os.ReadFile(filepath.Join(dir, "cli_test", "README.md"))
	if err != nil || !strings.Contains(string(page), "The manual of echo.") {
		t.Errorf("%v:\n%s", err, page)
	}
}
