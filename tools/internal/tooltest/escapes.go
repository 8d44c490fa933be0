package tooltest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
)

// sentinel is the content, and a part of the name, of what lies outside the
// roots. No result and no error may show it, its hash, or how long it is.
const sentinel = "OUTSIDE-SENTINEL-7f3a"

// vector is a path that leaves the roots or names what is no file.
type vector struct{ name, path string }

// plant puts links and special files into the workspace dir, and secrets
// beside it, and returns the paths that lead to them.
func plant(t *testing.T, dir string) []vector {
	t.Helper()
	parent := filepath.Dir(dir)
	out := filepath.Join(parent, "out")
	twin := dir + "-evil"
	for _, d := range []string{out, twin} {
		must(t, os.MkdirAll(filepath.Join(d, "sub"), 0o755))
		must(t, os.WriteFile(filepath.Join(d, "secret"), []byte(sentinel), 0o644))
		must(t, os.WriteFile(filepath.Join(d, "sub", "secret"), []byte(sentinel), 0o644))
		must(t, os.WriteFile(filepath.Join(d, sentinel+".txt"), nil, 0o644))
	}
	must(t, os.WriteFile(filepath.Join(parent, sentinel+".txt"), nil, 0o644))
	links := map[string]string{
		"rel_out":     "../out/secret",
		"abs_out":     filepath.Join(out, "secret"),
		"dir_out":     "../out",
		"absdir_out":  out,
		"twin_out":    "../" + filepath.Base(twin),
		"chain_1":     "chain_2",
		"chain_2":     "dir_out",
		"loop_a":      "loop_b",
		"loop_b":      "loop_a",
		"self":        "self",
		"root_link":   "/",
		"proc_root":   "/proc/self/root/etc/hostname",
		"proc_cwd":    "/proc/self/cwd",
		"proc_fd":     "/proc/self/fd/0",
		"dev_zero":    "/dev/zero",
		"dangling":    "../out/nothing",
		"parent_link": "..",
	}
	for name, target := range links {
		must(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	vs := []vector{
		{"dot dot", "../out/secret"},
		{"deep dot dot", "a/b/../../../out/secret"},
		{"dot dot only", ".."},
		{"absolute outside", filepath.Join(out, "secret")},
		{"absolute through the root", dir + "/../out/secret"},
		{"sibling with the root's name as prefix", twin + "/secret"},
		{"relative sibling", "../" + filepath.Base(twin) + "/secret"},
		{"system file", "/etc/passwd"},
		{"system root", "/"},
		{"double slash", "//" + strings.TrimPrefix(out, "/") + "/secret"},
		{"procfs", "/proc/self/environ"},
		{"procfs memory", "/proc/self/mem"},
		{"device", "/dev/zero"},
		{"NUL", "a\x00../../out/secret"},
		{"only NUL", "\x00"},
		{"trailing slash on a link to a file", "rel_out/"},
		{"below a link to a directory", "dir_out/secret"},
		{"below an absolute link", "absdir_out/secret"},
		{"below a link to the twin", "twin_out/secret"},
		{"below a chain", "chain_1/secret"},
		{"out of a linked directory", "dir_out/../out/secret"},
		{"below the link to the parent", "parent_link/out/secret"},
		{"below the link to the system root", "root_link/etc/passwd"},
		{"new file below a linked directory", "dir_out/new/deep/file"},
		{"URI", "file://" + filepath.Join(out, "secret")},
		{"percent encoded", "%2e%2e/out/secret"},
		{"overlong UTF-8", "\xc0\xae\xc0\xae/out/secret"},
		{"backslashes", `..\out\secret`},
		{"home", "~/secret"},
		{"home of a user", "~root/secret"},
		{"variable", "$HOME/secret"},
		{"too long a name", strings.Repeat("x", 300)},
		{"too long a path", strings.Repeat("x/", 3000) + "f"},
	}
	for name := range links {
		vs = append(vs, vector{"link " + name, name})
	}
	return append(vs, special(t, dir)...)
}

// escapes tries every vector in every path argument of the tool.
func escapes(t *testing.T, tool tools.Tool, c tools.Call) {
	in, err := tool.Input()
	must(t, err)
	ws, dir := Tree(t, c.Files)
	vectors := plant(t, dir)
	outside := func() string {
		return snapshot(t, filepath.Join(filepath.Dir(dir), "out")) + snapshot(t, dir+"-evil")
	}
	before := outside()
	slowest := time.Duration(0)
	for _, field := range in.PathFields() {
		t.Logf("%s%s: vectors: %d", tool.Name, field.Pointer, len(vectors))
		for _, v := range vectors {
			args := set(t, c.Args, field.Pointer, v.path)
			start := time.Now()
			result, err := Call(t.Context(), ws, tool, args)
			took := time.Since(start)
			slowest = max(slowest, took)
			if took > refusedWithin*slowdown {
				t.Errorf("%s, %s = %q: took %v", v.name, field.Pointer, clip(v.path), took)
			}
			said := Text(result) + string(result.Structured)
			if err != nil {
				said += err.Error() + tools.AsError(err).Error()
			}
			if what := leak(said, result.Structured); what != "" {
				t.Errorf("%s, %s = %q: shows %s of what lies outside: %s", v.name, field.Pointer, clip(v.path), what, clip(said))
			}
			if err != nil && tools.AsError(err).Code == tools.Internal {
				t.Errorf("%s, %s = %q: no clear refusal: %v", v.name, field.Pointer, clip(v.path), err)
			}
			// A list of paths is answered path by path; a single one is refused.
			if err == nil && !strings.Contains(field.Pointer, "*") {
				t.Errorf("%s, %s = %q: not refused: %s", v.name, field.Pointer, clip(v.path), clip(said))
			}
		}
	}
	t.Logf("%s: slowest of the vectors: %v", tool.Name, slowest)
	if after := outside(); before != after {
		t.Errorf("the tree outside the roots changed:\nbefore\n%s\nafter\n%s", before, after)
	}
}

// leak names what a result or an error tells of what lies outside, "" if nothing.
func leak(said string, structured json.RawMessage) string {
	sum := sha256.Sum256([]byte(sentinel))
	var doc any
	switch {
	case strings.Contains(said, sentinel):
		return "the content or a name"
	case strings.Contains(said, "root:x:0"):
		return "the users"
	case strings.Contains(said, hex.EncodeToString(sum[:])):
		return "the hash"
	case json.Unmarshal(structured, &doc) == nil && describes(doc):
		return "the size"
	}
	return ""
}

// describes reports whether an object in the data says of a path that it exists
// and has the size of the sentinel.
func describes(data any) bool {
	switch v := data.(type) {
	case []any:
		return slices.ContainsFunc(v, describes)
	case map[string]any:
		return v["exists"] == true && v["size"] == float64(len(sentinel)) ||
			slices.ContainsFunc(slices.Collect(maps.Values(v)), describes)
	}
	return false
}

// set returns args with the value at a pointer replaced; "*" in the pointer
// makes a list of one.
func set(t *testing.T, args json.RawMessage, pointer, value string) json.RawMessage {
	t.Helper()
	var doc any
	must(t, json.Unmarshal(args, &doc))
	doc = put(doc, strings.Split(strings.TrimPrefix(pointer, "/"), "/"), value)
	out, err := json.Marshal(doc)
	must(t, err)
	return out
}

func put(doc any, keys []string, value string) any {
	if len(keys) == 0 {
		return value
	}
	if keys[0] == "*" {
		var first any
		if list, ok := doc.([]any); ok && len(list) > 0 {
			first = list[0]
		}
		return []any{put(first, keys[1:], value)}
	}
	m, ok := doc.(map[string]any)
	if !ok {
		m = map[string]any{}
	}
	m[keys[0]] = put(m[keys[0]], keys[1:], value)
	return m
}

func clip(s string) string {
	if len(s) > 120 {
		s = s[:120] + fmt.Sprintf("... (%d bytes)", len(s))
	}
	return s
}

func itoa(i int) string { return strconv.Itoa(i) }
