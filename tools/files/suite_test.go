package files_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/files"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// caller calls one tool in one workspace.
type caller struct {
	testing.TB
	tool  tools.Tool
	ws    *workspace.Workspace
	dir   string
	extra map[string]any // arguments of every call
}

// newCaller makes a caller of a tool that remembers what it has seen, as in a server.
func newCaller(t testing.TB, name string, tree map[string]string) caller {
	t.Helper()
	ws, dir := tooltest.Tree(t, tree)
	return caller{TB: t, tool: tool(t, name, files.Deps{Seen: view.NewSeen(16 << 20), Lines: view.NewLineIndex()}), ws: ws, dir: dir}
}

// tool returns a tool of the category.
func tool(t testing.TB, name string, d files.Deps) tools.Tool {
	t.Helper()
	for _, tool := range files.Tools(d) {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("no tool is called %q", name)
	return tools.Tool{}
}

// try returns the text of the result, or "error: " and the error.
func (c caller) try(args map[string]any) string {
	c.Helper()
	if c.extra != nil {
		args = maps.Clone(args)
		maps.Copy(args, c.extra)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		c.Fatal(err)
	}
	result, err := tooltest.Call(c.Context(), c.ws, c.tool, raw)
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	text := tooltest.Text(result)
	if len(text) > tools.MaxText {
		c.Errorf("%s: %d bytes of text", raw, len(text))
	}
	return text
}

func (c caller) call(args map[string]any) string {
	c.Helper()
	text := c.try(args)
	if strings.HasPrefix(text, "error: ") {
		c.Fatalf("%v: %s", args, text)
	}
	return text
}

var (
	nextLine = regexp.MustCompile(`; next: offset=(-?\d+)$`)
	nextByte = regexp.MustCompile(`; next: byte_offset=(\d+)$`)
	cutMark  = regexp.MustCompile(`…\[\+\d+ bytes: byte_offset=(\d+) byte_limit=(\d+)\]$`)
)

// follow puts all pages together by doing what their status lines say.
func (c caller) follow(args map[string]any, next *regexp.Regexp, argument string) (body string, pages int) {
	c.Helper()
	var b strings.Builder
	for {
		status, page, _ := strings.Cut(c.call(args), "\n")
		pages++
		m := next.FindStringSubmatch(status)
		b.WriteString(page)
		if m == nil || pages > 10_000 {
			return b.String(), pages
		}
		if argument == "offset" {
			b.WriteString("\n")
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			c.Fatal(err)
		}
		args[argument] = n
	}
}

// large makes a sparse file with text at both ends.
func large(t *testing.T, dir string, size int64) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "big.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := strings.Repeat("head line\n", 7000) // more than is sniffed
	if _, err := f.WriteString(head); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Skip("needs: a file system with sparse files of 10 GB: " + err.Error())
	}
	tail := "\nthird last\r\nlast but one\r\nlast"
	if _, err := f.WriteAt([]byte(tail), size-int64(len(tail))); err != nil {
		t.Skip("needs: a file system with sparse files of 10 GB: " + err.Error())
	}
}

func sum(data string) string {
	h := sha256.Sum256([]byte(data))
	return hex.EncodeToString(h[:])
}

// short returns the hash of data as results show it.
func short(data string) string { return sum(data)[:12] }

// utf16 stores ASCII text as UTF-16, little end first.
func utf16(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.Write([]byte{text[i], 0})
	}
	return b.String()
}

// newWriter makes a caller of a tool that writes.
func newWriter(t testing.TB, d files.Deps, name string, tree map[string]string) caller {
	t.Helper()
	ws, dir := tooltest.Tree(t, tree)
	return caller{TB: t, tool: tool(t, name, d), ws: ws, dir: dir}
}

func (c caller) write(name, data string) {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(data), 0o644); err != nil {
		c.Fatal(err)
	}
}

// content returns the bytes of a file, "<none>" if there is none.
func (c caller) content(name string) string {
	c.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, name))
	if os.IsNotExist(err) {
		return "<none>"
	}
	if err != nil {
		c.Fatal(err)
	}
	return string(data)
}

// noUndo takes what the history adds out of a status line.
func noUndo(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	first, _, _ = strings.Cut(first, "; undo: ")
	first, _, _ = strings.Cut(first, "; cannot be undone: ")
	return first + "\n" + rest
}

type edits []map[string]any

func one(old, text string) edits { return edits{{"old_text": old, "new_text": text}} }
