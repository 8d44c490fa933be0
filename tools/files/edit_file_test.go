package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools/files"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"

	"toolcrib/tools/files/internal/view"
)

func TestEditFilePlaces(t *testing.T) {
	w := newWriter(t, files.Deps{}, "edit_file", map[string]string{"dir/a.txt": "x\n", "link": "-> dir/a.txt", "away": "-> ../out"})
	for _, c := range []struct{ path, want string }{
		{"dir/b.txt", "error: not_found: dir/b.txt does not exist (nearest existing path: dir/a.txt; write_file makes files)"},
		{"dir", "error: invalid_argument: dir is a directory, not a file (…)"},
		{"../f", "error: denied: …"},
		{"away", "error: …"},
		{"dir/a.txt/b", "error: …"},
		{"link", "link: edited, 1 replacement at line 1; …\n..."},
	} {
		got := w.try(map[string]any{"path": c.path, "edits": one("x", "y")})
		if diff := tooltest.Match(c.want, noUndo(got)); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
	}
	if got := w.content("dir/a.txt"); got != "y\n" {
		t.Errorf("the target of the link has %q", got)
	}
}

// Arguments as models write them.
func TestEditFileArguments(t *testing.T) {
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"other names", map[string]any{"file_path": "f", "edits": edits{{"old_string": "a", "new_string": "b"}}}, "f: edited, …\n..."},
		{"names in camel case", map[string]any{"path": "f", "edits": edits{{"oldText": "a", "newText": "b"}}}, "f: edited, …\n..."},
		{"edits as a string", map[string]any{"path": "f", "edits": `[{"old_text":"a","new_text":"b"}]`}, "f: edited, …\n..."},
		{"numbers as strings", map[string]any{"path": "f", "edits": edits{{"start_line": "1", "new_text": "b"}}}, "f: edited, …\n..."},
		{"one edit without a list", map[string]any{"file_path": "f", "old_string": "a", "new_string": "b"}, "f: edited, …\n..."},
		{"one edit that is no list", map[string]any{"path": "f", "edits": map[string]any{"old_text": "a", "new_text": "b"}}, "f: edited, …\n..."},
		{"no edits", map[string]any{"path": "f", "edits": edits{}}, "error: invalid_argument: …"},
		{"no new text", map[string]any{"path": "f", "edits": edits{{"old_text": "a"}}}, "error: invalid_argument: /edits/0/new_text: required, missing"},
		{"an unknown argument", map[string]any{"path": "f", "edits": one("a", "b"), "regex": true}, "error: invalid_argument: /regex: unknown argument…"},
		{"an unknown encoding", map[string]any{"path": "f", "edits": one("a", "b"), "encoding": "utf-9"}, "error: invalid_argument: no encoding is called \"utf-9\" …"},
		{"no hash", map[string]any{"path": "f", "edits": one("a", "b"), "expected_hash": "abc"}, "error: invalid_argument: expected_hash \"abc\" is no hash …"},
	} {
		w := newWriter(t, files.Deps{}, "edit_file", map[string]string{"f": "a\n"})
		if diff := tooltest.Match(c.want, noUndo(w.try(c.args))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// What an edit says of a file that changed since the caller saw it.
func TestEditFileAfterChange(t *testing.T) {
	seen := "one\ntwo\nthree\n"
	now := "zero\none\n2\nthree\n"
	change := "hash when you read it: " + short(seen) + "\nhash now: " + short(now) + "\n--- f as you read it\n+++ f now\n@@ -1,3 +1,4 @@\n+zero\n one\n-two\n+2\n three"
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"a text that is still there", map[string]any{"edits": one("three", "3")}, "f: edited, 1 replacement at line 4; …\n..."},
		{"a text that is gone", map[string]any{"edits": one("two", "II")}, "error: invalid_argument: f: …; nothing is changed\n...\nf has changed since you read it:\n" + change},
		{"a line by its number", map[string]any{"edits": edits{{"start_line": 2, "new_text": "II\n"}}},
			"error: conflict: f has changed since you read it, so its line numbers may have too (give the new numbers, with expected_hash=" + short(now) + ")\n" + change},
		{"a line by its number, knowing", map[string]any{"edits": edits{{"start_line": 3, "new_text": "II\n"}}, "expected_hash": sum(now)}, "f: edited, …\n..."},
		{"a text on a line", map[string]any{"edits": edits{{"old_text": "three", "start_line": 4, "new_text": "3"}}}, "f: edited, …\n..."},
		{"a hash", map[string]any{"edits": one("three", "3"), "expected_hash": short(seen)},
			"error: conflict: f is not what expected_hash names: it has hash " + short(now) + " now (see what changed, then call again with that hash)\nwhat changed:\n--- expected\n+++ now\n@@ -1,3 +1,4 @@\n+zero\n one\n-two\n+2\n three"},
	} {
		d := files.Deps{Seen: view.NewSeen(1 << 20)}
		w := newWriter(t, d, "edit_file", map[string]string{"f": now})
		d.Seen.Note("local", "f", sum(seen), []byte(seen))
		c.args["path"] = "f"
		if diff := tooltest.Match(c.want, noUndo(w.try(c.args))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// What an edit wrote is known to the next, so that line numbers can be given again.
func TestEditFileTwice(t *testing.T) {
	w := newWriter(t, files.Deps{Seen: view.NewSeen(1 << 20)}, "edit_file", map[string]string{"f": "a\nb\n"})
	w.call(map[string]any{"path": "f", "edits": one("a", "A")})
	w.call(map[string]any{"path": "f", "edits": edits{{"start_line": 2, "new_text": "B\n"}}})
	w.write("f", "A\nx\nB\n")
	got := w.try(map[string]any{"path": "f", "edits": edits{{"start_line": 2, "new_text": "C\n"}}})
	if !strings.HasPrefix(got, "error: conflict: f has changed since you read it") || w.content("f") != "A\nx\nB\n" {
		t.Errorf("%s\n%q", got, w.content("f"))
	}
}

func TestEditFileBounds(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "line %d of some length, as lines are\n", i)
	}
	w := newWriter(t, files.Deps{}, "edit_file", map[string]string{"f": text.String()})
	got := w.call(map[string]any{"path": "f", "edits": edits{{"old_text": "line", "new_text": "LINE", "replace_all": true}}})
	if len(got) > 13_000 || !strings.Contains(got, "40000 replacements at lines 1, 2, ") || !strings.Contains(got, " and 19980 more; +20000 -20000; ") {
		t.Errorf("%d bytes: %.400s", len(got), got)
	}
	got = w.try(map[string]any{"path": "f", "edits": one(strings.Repeat("nothing like it ", 5000), "x")})
	if !strings.HasPrefix(got, "error: invalid_argument: f: ") || len(got) > 10_000 {
		t.Errorf("%d bytes: %.400s", len(got), got)
	}

	host := filepath.Join(w.dir, "large")
	if err := os.WriteFile(host, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(host, workspace.MaxEdit+1); err != nil {
		t.Fatal(err)
	}
	got = w.try(map[string]any{"path": "large", "edits": one("a", "b")})
	if !strings.HasPrefix(got, "error: too_large: large has 67 MB; files of up to 67 MB can be edited (") {
		t.Error(got)
	}
}

// Edits at once, among appends, lose nothing, though none expects a hash.
func TestEditFileConcurrently(t *testing.T) {
	concurrently(t, "edit_file", func(old, text string) args { return args{"path": "f", "edits": one(old, text)} }, nil)
}
