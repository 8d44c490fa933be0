package cli_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toolcrib/tools/catalog"
)

// TestTopics holds the topics of help to their form: a title that the list shows,
// a size, and lines that fit a terminal.
func TestTopics(t *testing.T) {
	const maxSize, maxWidth = 30_000, 100
	overview, _, _ := invocation{args: []string{"help"}}.start(t)
	for _, name := range topicsOf(t) {
		data, err := os.ReadFile(filepath.Join("help", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		title, _, _ := strings.Cut(text, "\n")
		subject, summary, ok := strings.Cut(strings.TrimPrefix(title, "# "), ": ")
		if !ok || !strings.HasPrefix(title, "# ") || !strings.EqualFold(subject, name) {
			t.Errorf("%s: its first line is %q, want \"# Name: summary\"", name, title)
		}
		if !regexp.MustCompile(`(?m)^  ` + name + ` +` + regexp.QuoteMeta(summary) + `$|^  (more +|  +)([a-z]+ )*` + name + `( [a-z]+)*$`).MatchString(overview) {
			t.Errorf("toolcrib help lists neither %s: %s, nor its name alone", name, summary)
		}
		if len(text) > maxSize || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: %d bytes, want at most %d and a newline at the end", name, len(text), maxSize)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > maxWidth {
				t.Errorf("%s: %d characters, want at most %d: %s", name, n, maxWidth, line)
			}
		}
		stdout, stderr, code := invocation{args: []string{"help", name}}.start(t)
		if code != 0 || stderr != "" || !strings.Contains(stdout, text) {
			t.Errorf("help %s: exit code %d, stderr %q, and not its text", name, code, stderr)
		}
	}
	if page, _, _ := (invocation{args: []string{"help", "policy"}}).start(t); !strings.HasPrefix(page, "toolcrib policy: ") {
		t.Errorf("help policy does not begin with the command:\n%s", page)
	}
}

// TestProse holds what the topics, the README and the guide for contributors name
// to what there is: links, commands, flags.
func TestProse(t *testing.T) {
	known := namesOf(t)
	files, err := filepath.Glob("help/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../../README.md", "../../.github/CONTRIBUTING.md") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(string(data), -1) {
			target, _, _ := strings.Cut(link[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(target))); err != nil {
				t.Errorf("%s: the link %s leads nowhere", file, link[1])
			}
		}
		for _, code := range codeOf(string(data)) {
			known.check(t, file, code)
		}
	}
}

// names are the commands with the flags of each, and the topics.
type names struct {
	flags  map[string][]string
	topics []string
}

func namesOf(t *testing.T) names {
	t.Helper()
	known := names{map[string][]string{}, topicsOf(t)}
	categories := catalog.All(new(catalog.Services))
	overview, _, _ := invocation{args: []string{"help"}, categories: categories}.start(t)
	_, list, _ := strings.Cut(overview, "\nCommands ")
	list, _, _ = strings.Cut(list, "\n\n")
	for _, line := range strings.Split(list, "\n")[1:] {
		command := strings.Fields(line)[0]
		page, _, _ := invocation{args: []string{"help", command}, categories: categories}.start(t)
		page, _, _ = strings.Cut(page, "\n# ")
		known.flags[command] = regexp.MustCompile(`--[a-z-]+`).FindAllString(page, -1)
	}
	return known
}

func topicsOf(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("help/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no topics: ", err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".md")
	}
	return files
}

// codeOf returns the lines of code blocks and the code spans of a Markdown text.
func codeOf(text string) []string {
	var code []string
	var prose strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case line == "---\n": // of front matter
		case fenced, strings.HasPrefix(line, "    "):
			code = append(code, strings.TrimSpace(line))
		default:
			prose.WriteString(line)
		}
	}
	for _, span := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(prose.String(), -1) {
		code = append(code, strings.Join(strings.Fields(span[1]), " "))
	}
	return code
}

// check reports what a command line or a flag names that there is not.
func (n names) check(t *testing.T, file, code string) {
	t.Helper()
	flag := regexp.MustCompile(`--[a-z][a-z-]*`)
	if strings.HasPrefix(code, "--") {
		if one := flag.FindString(code); !slices.ContainsFunc(slices.Collect(maps.Values(n.flags)), func(flags []string) bool { return slices.Contains(flags, one) }) {
			t.Errorf("%s: no command has the flag %s", file, one)
		}
		return
	}
	words := strings.Fields(code)
	if len(words) < 2 || path.Base(words[0]) != "toolcrib" {
		return
	}
	flags, ok := n.flags[words[1]]
	switch {
	case !ok && regexp.MustCompile(`^[a-z]+$`).MatchString(words[1]):
		t.Errorf("%s: no command %s: %s", file, words[1], code)
		return
	case words[1] == "help" && len(words) > 2 && words[2] != "TOPIC" && words[2] != "COMMAND":
		if n.flags[words[2]] == nil && !slices.Contains(n.topics, words[2]) {
			t.Errorf("%s: no topic %s: %s", file, words[2], code)
		}
	}
	for _, one := range flag.FindAllString(code, -1) {
		if !slices.Contains(flags, one) {
			t.Errorf("%s: %s has no flag %s: %s", file, words[1], one, code)
		}
	}
}
