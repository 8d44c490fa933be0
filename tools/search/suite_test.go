package search_test

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/search"
	"toolcrib/workspace"
)

func tool(t testing.TB, name string) tools.Tool {
	t.Helper()
	for _, tool := range search.Tools(search.Deps{}) {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("no tool %q", name)
	return tools.Tool{}
}

// answer is the result of a call.
func answer(t testing.TB, ws *workspace.Workspace, tl tools.Tool, args map[string]any) tools.Result {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	result, err := tooltest.Call(t.Context(), ws, tl, data)
	if err != nil {
		t.Fatalf("%s %s: %v", tl.Name, data, err)
	}
	return result
}

// call returns the text of a call's result.
func call(t testing.TB, ws *workspace.Workspace, name string, args map[string]any) string {
	t.Helper()
	return tooltest.Text(answer(t, ws, tool(t, name), args))
}

var (
	nextPage = regexp.MustCompile(`next: offset=(\d+)`)
	hit      = regexp.MustCompile(`^(\d+)\t`)
)

// pages calls until the last page and returns all lines but those of the status.
func pages(t testing.TB, ws *workspace.Workspace, name string, args map[string]any) []string {
	t.Helper()
	var all []string
	for {
		text := call(t, ws, name, args)
		status, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\n")
		if rest != "" {
			all = append(all, strings.Split(rest, "\n")...)
		}
		next := nextPage.FindStringSubmatch(status)
		if next == nil {
			return all
		}
		offset, err := strconv.Atoi(next[1])
		if err != nil || offset <= number(args["offset"]) {
			t.Fatalf("%v: %s", args, status)
		}
		args["offset"] = offset
	}
}

func number(v any) int {
	n, _ := v.(int)
	return n
}

// corpus is some of the standard library, and files that are awkward to search.
func corpus(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"awkward/crlf.txt":          "foo\r\nbar foo\r\n\r\n  \r\nreturn x\r\nif err != nil {\r\n",
		"awkward/no final line end": "first\nreturn foo",
		"awkward/empty.go":          "",
		"awkward/line feeds":        "\n\n\n",
		"awkward/binary.go":         "return\x00return\n",
		"awkward/latin1.txt":        "caf\xe9 foo\nreturn \xff\xfe\n",
		"awkward/long.js":           strings.Repeat("var x = 1; ", 9000) + "return foo;" + strings.Repeat("y();", 30_000) + "\nfoo\n",
		"awkward/utf16.txt":         "\xff\xfef\x00o\x00o\x00\r\x00\n\x00b\x00a\x00r\x00\n\x00",
		"awkward/bom.txt":           "\ufefffoo\nbar\n",
		"awkward/.hidden/a.go":      "return foo\n",
		"awkward/ignored/a.go":      "return foo\n",
		"awkward/big.log":           strings.Repeat("some line of a log with a number 12345 in it\n", 7_000) + "ERROR foo\n" + strings.Repeat("x\n", 2_000) + "return foo",
		".ignore":                   "ignored/\n",
	}
	src := filepath.Join(goroot(t), "src")
	for _, dir := range []string{"net/http", "regexp", "strconv", "go/types", "text/template", "encoding/json", "strings"} {
		list, err := filepath.Glob(filepath.Join(src, filepath.FromSlash(dir), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range list {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files["go/"+dir+"/"+filepath.Base(name)] = string(data)
		}
	}
	if len(files) < 200 {
		t.Skip("needs: the source of the standard library")
	}
	return files
}

// rgProgram is ripgrep, whose results are compared.
func rgProgram(t *testing.T) string {
	t.Helper()
	rg := cmp.Or(os.Getenv("RG"), "rg")
	if _, err := exec.LookPath(rg); err != nil {
		t.Skip("needs: rg: on PATH or named by RG")
	}
	return rg
}

func head(s string) string {
	lines := strings.SplitAfterN(s, "\n", 30)
	return strings.Join(lines[:min(len(lines), 25)], "")
}

// goroot is the directory of the Go tree, whose source is searched.
func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("needs: the go command: %v", err)
	}
	return strings.TrimSpace(string(out))
}
