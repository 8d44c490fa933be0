package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/files"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

func TestWriteFile(t *testing.T) {
	big := strings.Repeat("a line of some length\n", 500_000) // above what is read whole
	for _, c := range []struct {
		name  string
		old   string // of the file "f", "" = there is none, "<empty>"
		args  map[string]any
		want  string // the bytes afterwards, "" = as before
		reply string
	}{
		{"new", "", map[string]any{"content": "a\nb\n"}, "a\nb\n", "f: created, 2 lines, 4 B; hash " + short("a\nb\n")},
		{"new and empty", "", map[string]any{"content": ""}, "<empty>", "f: created, 0 lines, 0 B; hash " + short("")},
		{"new without a final newline", "", map[string]any{"content": "a"}, "a", "f: created, 1 line, 1 B; hash …"},
		{"new with CRLF", "", map[string]any{"content": "a\r\nb\r\n"}, "a\r\nb\r\n", "f: created, 2 lines, 6 B; utf-8, CRLF; hash …"},
		{"new with mixed ends", "", map[string]any{"content": "a\r\nb\n"}, "a\r\nb\n", "f: created, 2 lines, 5 B; utf-8, mixed (1 CRLF, 1 LF); hash …"},
		{"new with a mark", "", map[string]any{"content": "\ufeffa\n"}, "\xef\xbb\xbfa\n", "f: created, 1 line, 5 B; utf-8 with BOM, LF; hash …"},
		{"new in an encoding", "", map[string]any{"content": "é\n", "encoding": "latin1"}, "\xe9\n", "f: created, 1 line, 2 B; iso-8859-1, LF; hash …"},
		{"new in UTF-16", "", map[string]any{"content": "a\n", "encoding": "utf-16le"}, "\xff\xfea\x00\n\x00", "f: created, 1 line, 6 B; utf-16le with BOM, LF; hash …"},
		{"new in UTF-32", "", map[string]any{"content": "a", "encoding": "utf-32be"}, "\x00\x00\xfe\xff\x00\x00\x00a", "f: created, 1 line, 8 B; utf-32be with BOM; hash …"},
		{"new with a signature", "", map[string]any{"content": "a\n", "encoding": "utf-8-sig"}, "\xef\xbb\xbfa\n", "f: created, …"},
		{"one mark is enough", "", map[string]any{"content": "\ufeffa", "encoding": "utf-16le"}, "\xff\xfea\x00", "f: created, …"},
		{"an encoding that lacks a character", "", map[string]any{"content": "a\n日\n", "encoding": "latin1"}, "<none>", "error: invalid_argument: f: line 2 of the content: iso-8859-1 cannot express 日 (U+65E5) (use encoding=utf-8, or another character)"},
		{"an unknown encoding", "", map[string]any{"content": "a", "encoding": "utf-9"}, "<none>", "error: invalid_argument: no encoding is called \"utf-9\" (did you mean …)"},
		{"content with NUL", "", map[string]any{"content": "a\x00b"}, "a\x00b", "f: created, 1 line, 3 B; hash …\nnote: it holds NUL characters, so other tools take it for binary"},

		{"over", "a\nb\nc\n", map[string]any{"content": "a\nB\nc\n"}, "a\nB\nc\n", "f: overwritten, 3 lines (+1 -1), 6 B; hash …\n--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"},
		{"over an empty file", "<empty>", map[string]any{"content": "a\n"}, "a\n", "f: overwritten, 1 line (+1 -0), 2 B; hash …\n..."},
		{"over with nothing", "a\n", map[string]any{"content": ""}, "<empty>", "f: overwritten, 0 lines (+0 -1), 0 B; hash …\n..."},
		{"the same", "a\n", map[string]any{"content": "a\n"}, "", "f: unchanged, it has this content already; hash " + short("a\n")},
		{"the same but for line ends", "a\r\nb\r\n", map[string]any{"content": "a\nb\n"}, "", "f: unchanged, …"},
		{"CRLF kept", "a\r\nb\r\n", map[string]any{"content": "a\nc\n"}, "a\r\nc\r\n", "f: overwritten, 2 lines (+1 -1), 6 B; utf-8, CRLF; hash …\n..."},
		{"CRLF not doubled", "a\r\nb\r\n", map[string]any{"content": "a\r\nc\r\n"}, "a\r\nc\r\n", "f: overwritten, 2 lines (+1 -1), 6 B; utf-8, CRLF; hash …\n--- …\n..."},
		{"LF kept", "a\nb\n", map[string]any{"content": "a\r\nc\r\n"}, "a\nc\n", "f: overwritten, 2 lines (+1 -1), 4 B; hash …\nnote: the content's line endings became LF, which the file has\n..."},
		{"mixed to the majority", "a\r\nb\r\nc\n", map[string]any{"content": "a\nb\nC\n"}, "a\r\nb\r\nC\r\n", "f: overwritten, 3 lines (+1 -1), 9 B; utf-8, CRLF; hash …\nnote: line endings were mixed (2 CRLF, 1 LF); now all are CRLF\n..."},
		{"as many of both", "a\r\nb\n", map[string]any{"content": "a\nB\n"}, "a\nB\n", "f: overwritten, 2 lines (+1 -1), 4 B; hash …\nnote: line endings were mixed (1 CRLF, 1 LF); now all are LF\n..."},
		{"no line ends to keep", "a", map[string]any{"content": "a\r\nb\r\n"}, "a\r\nb\r\n", "f: overwritten, …\n..."},
		{"lone carriage returns are text", "a\rb\n", map[string]any{"content": "a\rc\n"}, "a\rc\n", "f: overwritten, …\n..."},
		{"mark kept", "\xef\xbb\xbfa\n", map[string]any{"content": "b\n"}, "\xef\xbb\xbfb\n", "f: overwritten, 1 line (+1 -1), 5 B; utf-8 with BOM, LF; hash …\n..."},
		{"mark not doubled", "\xef\xbb\xbfa\n", map[string]any{"content": "\ufeffb\n"}, "\xef\xbb\xbfb\n", "f: overwritten, …\n..."},
		{"UTF-16 kept", "\xff\xfe" + utf16("a\r\n"), map[string]any{"content": "b\n"}, "\xff\xfe" + utf16("b\r\n"), "f: overwritten, 1 line (+1 -1), 8 B; utf-16le with BOM, CRLF; hash …\n..."},
		{"UTF-16 without a mark kept", utf16("abcdefgh\n"), map[string]any{"content": "bé\n"}, utf16("b") + "\xe9\x00" + utf16("\n"), "f: overwritten, …; utf-16le, LF; hash …\n..."},
		{"declared encoding kept", "# coding: latin1\n# \xe9\n", map[string]any{"content": "# coding: latin1\n# ü\n"}, "# coding: latin1\n# \xfc\n", "f: overwritten, …; iso-8859-1, LF; hash …\n..."},
		{"declared encoding lacks a character", "# coding: latin1\n# \xe9\n", map[string]any{"content": "# coding: latin1\n# 日\n"}, "", "error: invalid_argument: f: line 2 of the content: iso-8859-1 cannot express 日 (U+65E5) (the file is iso-8859-1; with mode=overwrite, encoding=utf-8 converts it)"},
		{"converted", "# coding: latin1\n# \xe9\n", map[string]any{"content": "# 日\n", "encoding": "utf-8"}, "# 日\n", "f: overwritten, 1 line (+1 -2), 6 B; hash …\n..."},
		{"converted from UTF-16", "\xff\xfe" + utf16("a\r\n"), map[string]any{"content": "a\n", "encoding": "utf-8"}, "a\r\n", "f: overwritten, 1 line (+0 -0), 3 B; utf-8, CRLF; hash …"},
		{"guessed encoding, known characters", "caf\xe9\n", map[string]any{"content": "éé\n"}, "\xe9\xe9\n", "f: overwritten, …; windows-1252, LF; hash …\n..."},
		{"guessed encoding, ASCII", "caf\xe9\n", map[string]any{"content": "cafe\n"}, "cafe\n", "f: overwritten, 1 line (+1 -1), 5 B; hash …\n..."},
		{"guessed encoding, new characters", "caf\xe9\n", map[string]any{"content": "für\n"}, "", "error: invalid_argument: f: ü is new to it, and its encoding could only be guessed (find out which it is and name it: encoding=NAME; or write ASCII and characters that are there already)"},
		{"guessed encoding, named", "caf\xe9\n", map[string]any{"content": "für\n", "encoding": "windows-1252"}, "f\xfcr\n", "f: overwritten, …; windows-1252, LF; hash …\n..."},
		{"over binary", "\x89PNG\r\n\x1a\n\x00", map[string]any{"content": "a\n"}, "a\n", "f: overwritten, 1 line, 2 B; it had 9 B; hash …\nnote: it was binary (image/png); now it is text"},

		{"a placeholder", "a\nb\n", map[string]any{"content": "a\n// ... rest of the code unchanged\n"}, "", "error: invalid_argument: f: line 2 of the new text replaces text that would be lost: // ... rest of the code unchanged (…)"},
		{"a placeholder that was there", "a\n# ... existing code ...\n", map[string]any{"content": "b\n# ... existing code ...\n"}, "b\n# ... existing code ...\n", "f: overwritten, …\n..."},

		{"create", "", map[string]any{"content": "a\n", "mode": "create"}, "a\n", "f: created, …"},
		{"create over a file", "a\n", map[string]any{"content": "b\n", "mode": "create"}, "", "error: already_exists: f exists already (read it first; mode=overwrite replaces it)"},
		{"create over the same", "a\n", map[string]any{"content": "a\n", "mode": "create"}, "", "error: already_exists: …"},
		{"create with a hash", "", map[string]any{"content": "b\n", "mode": "create", "expected_hash": sum("a\n")}, "<none>", "error: invalid_argument: …"},

		{"append", "a\n", map[string]any{"content": "b\nc\n", "mode": "append"}, "a\nb\nc\n", "f: appended 2 lines, 4 B; now 6 B; hash " + short("a\nb\nc\n") + "…"},
		{"append to nothing", "", map[string]any{"content": "b\n", "mode": "append"}, "b\n", "f: created, 1 line, 2 B; hash …"},
		{"append to an empty file", "<empty>", map[string]any{"content": "b\n", "mode": "append"}, "b\n", "f: appended 1 line, 2 B; now 2 B; hash …"},
		{"append to an open line", "a", map[string]any{"content": "b\n", "mode": "append"}, "ab\n", "f: appended 1 line, 2 B; now 3 B; hash …\nnote: the file had no final newline, so the content begins on its last line"},
		{"append a newline first", "a", map[string]any{"content": "\nb\n", "mode": "append"}, "a\nb\n", "f: appended 2 lines, 3 B; now 4 B; hash …"},
		{"append nothing", "a\n", map[string]any{"content": "", "mode": "append"}, "", "f: unchanged, …"},
		{"append to CRLF", "a\r\n", map[string]any{"content": "b\n", "mode": "append"}, "a\r\nb\r\n", "f: appended 1 line, 3 B; now 6 B; utf-8, CRLF; hash …"},
		{"append to UTF-16", "\xff\xfe" + utf16("a\n"), map[string]any{"content": "b\n", "mode": "append"}, "\xff\xfe" + utf16("a\nb\n"), "f: appended 1 line, 4 B; now 10 B; utf-16le with BOM, LF; hash …"},
		{"append to mixed ends", "a\r\nb\nc\n", map[string]any{"content": "d\r\n", "mode": "append"}, "a\r\nb\nc\nd\n", "f: appended …\nnote: the content's line endings became LF, which the file has"},
		{"append to binary", "\x00\x01", map[string]any{"content": "b\n", "mode": "append"}, "", "error: invalid_argument: f is binary; text cannot be appended to it (mode=overwrite replaces it)"},
		{"append in another encoding", "é\n", map[string]any{"content": "b\n", "mode": "append", "encoding": "utf-16le"}, "", "error: invalid_argument: f is utf-8; the appended text must be too (leave encoding out; …)"},
		{"append UTF-16 to ASCII", "a\n", map[string]any{"content": "b\n", "mode": "append", "encoding": "utf-16le"}, "", "error: invalid_argument: f is utf-8; …"},
		{"append an encoding to ASCII", "a\n", map[string]any{"content": "ü\n", "mode": "append", "encoding": "latin1"}, "a\n\xfc\n", "f: appended …"},
		{"append a guessed character", "caf\xe9\n", map[string]any{"content": "ü\n", "mode": "append"}, "", "error: invalid_argument: f: ü is new to it, …"},
		{"append a guessed character by name", "caf\xe9\n", map[string]any{"content": "ü\n", "mode": "append", "encoding": "cp1252"}, "caf\xe9\n\xfc\n", "f: appended 1 line, 2 B; now 7 B; windows-1252, LF; hash …"},
		{"append to a large file", big, map[string]any{"content": "b\n", "mode": "append"}, big + "b\n", "f: appended 1 line, 2 B; now 11 MB; …"},

		{"expected", "a\n", map[string]any{"content": "b\n", "expected_hash": sum("a\n")}, "b\n", "f: overwritten, …\n..."},
		{"expected in capitals", "a\n", map[string]any{"content": "b\n", "expected_hash": strings.ToUpper(sum("a\n"))}, "b\n", "f: overwritten, …\n..."},
		{"expected by 12 digits", "a\n", map[string]any{"content": "b\n", "expected_hash": short("a\n")}, "b\n", "f: overwritten, …\n..."},
		{"expected by 20 digits", "a\n", map[string]any{"content": "b\n", "expected_hash": "sha256:" + sum("a\n")[:20]}, "b\n", "f: overwritten, …\n..."},
		{"expected by 11 digits", "a\n", map[string]any{"content": "b\n", "expected_hash": sum("a\n")[:11]}, "", "error: invalid_argument: expected_hash …"},
		{"not expected by 12 digits", "a\n", map[string]any{"content": "b\n", "expected_hash": short("x\n")}, "", "error: conflict: f is not what expected_hash names: …"},
		{"not expected", "a\n", map[string]any{"content": "b\n", "expected_hash": sum("x\n")}, "", "error: conflict: f is not what expected_hash names: it has hash " + short("a\n") + " now (read it again; its former content is not known here)"},
		{"expected of no file", "", map[string]any{"content": "b\n", "expected_hash": sum("x\n")}, "<none>", "error: conflict: f does not exist any more (…)"},
		{"no hash", "a\n", map[string]any{"content": "b\n", "expected_hash": "1234"}, "", "error: invalid_argument: expected_hash \"1234\" is no hash (…)"},
		{"an empty hash is none", "a\n", map[string]any{"content": "b\n", "expected_hash": ""}, "b\n", "f: overwritten, …\n..."},
		{"another name of the content", "", map[string]any{"file_text": "a\n"}, "a\n", "f: created, …"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := map[string]string{}
			if c.old != "" {
				tree["f"] = strings.Replace(c.old, "<empty>", "", 1)
			}
			w := newWriter(t, files.Deps{}, "write_file", tree)
			c.args["path"] = "f"
			before := w.content("f")
			reply := w.try(c.args)
			reply = strings.ReplaceAll(reply, "; undo: restore_file undo=true", "")
			if diff := tooltest.Match(c.reply, noUndo(reply)); diff != "" {
				t.Error(diff)
			}
			want := c.want
			switch want {
			case "":
				want = before
			case "<empty>":
				want = ""
			}
			if got := w.content("f"); got != want {
				t.Errorf("the file is %.200q, want %.200q", got, want)
			}
		})
	}
}

func TestWriteFilePlaces(t *testing.T) {
	w := newWriter(t, files.Deps{}, "write_file", map[string]string{"dir/a": "x\n", "link": "-> dir/a", "dangling": "-> nowhere", "plain": ""})
	for _, c := range []struct{ path, want, at, data string }{
		{"new/deep/f.txt", "new/deep/f.txt: created, 1 line, 2 B; hash …", "new/deep/f.txt", "y\n"},
		{"dir", "error: invalid_argument: dir is a directory, not a file (…)", "dir/a", "x\n"},
		{"dir/", "error: invalid_argument: dir is a directory, …", "dir/a", "x\n"},
		{"none/", "error: invalid_argument: none/ names a directory, not a file (…)", "none", "<none>"},
		{"plain/f", "error: …", "plain", ""},
		{"link", "link: overwritten, …\nnote: symlinks lead to dir/a, which is the file written\n...", "dir/a", "y\n"},
		{"dangling", "error: …", "nowhere", "<none>"},
		{"../f", "error: denied: …", "../f", "<none>"},
	} {
		got := w.try(map[string]any{"path": c.path, "content": "y\n"})
		if diff := tooltest.Match(c.want, noUndo(got)); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
		if got := w.content(c.at); got != c.data {
			t.Errorf("%s: %s is %q, want %q", c.path, c.at, got, c.data)
		}
	}
	if info, err := os.Lstat(filepath.Join(w.dir, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
}

// A conflict shows what changed since the caller saw the file.
func TestWriteFileConflict(t *testing.T) {
	d := files.Deps{Seen: view.NewSeen(1 << 20)}
	w := newWriter(t, d, "write_file", nil)
	w.call(map[string]any{"path": "f", "content": "one\ntwo\nthree\n"})
	w.write("f", "one\n2\nthree\n")
	got := w.try(map[string]any{"path": "f", "content": "four\n", "expected_hash": sum("one\ntwo\nthree\n")})
	want := "error: conflict: f is not what expected_hash names: it has hash " + short("one\n2\nthree\n") + " now (see what changed, then call again with that hash)\n" +
		"what changed:\n--- expected\n+++ now\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
	if diff := tooltest.Match(want, got); diff != "" {
		t.Error(diff)
	}
	w.call(map[string]any{"path": "f", "content": "four\n", "expected_hash": sum("one\n2\nthree\n")})
	if got := w.content("f"); got != "four\n" {
		t.Errorf("the file is %q", got)
	}
}

// Where nobody saw the expected content, the history may have it.
func TestWriteFileConflictFromHistory(t *testing.T) {
	w := newWriter(t, files.Deps{}, "write_file", map[string]string{"f": "one\n"})
	w.call(map[string]any{"path": "f", "content": "two\n"})
	got := w.try(map[string]any{"path": "f", "content": "three\n", "expected_hash": sum("one\n")})
	want := "error: conflict: f is not what expected_hash names: it has hash " + short("two\n") + " now (see what changed, then call again with that hash)\n" +
		"what changed:\n--- expected\n+++ now\n@@ -1 +1 @@\n-one\n+two"
	if diff := tooltest.Match(want, got); diff != "" {
		t.Error(diff)
	}
	if got := w.content("f"); got != "two\n" {
		t.Errorf("the file is %q", got)
	}
}

// The user is asked before a write replaces what cannot be undone.
func TestWriteAsksBeforeALoss(t *testing.T) {
	b := losing(t, "write_file", []loss{
		{args{"path": "big.log", "content": "x"}, "overwrite " + lostLarge, "overwrite big.log (67 MB)" + lostWithout},
		{args{"path": "big.log", "content": "x", "mode": "append"}, "", ""},
		{args{"path": "big.log", "content": "x", "mode": "create"}, "", ""},
		{args{"path": "a.txt", "content": "x"}, "", "overwrite a.txt (2 B)" + lostWithout},
		{args{"path": "new", "content": "x"}, "", ""},
	})
	b.want("big.log: overwritten, …; cannot be undone: big.log is larger than 67 MB\n...", b.call("write_file", args{"path": "big.log", "content": "x\n"}))
}

// A write does not replace what others made of a file that the caller knows.
func TestWriteStale(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\ntwo\n", "g": "g\n"})
	seen := view.NewSeen(1 << 20)
	write := func(a args) string { return b.run(tools.Local, tool(t, "write_file", files.Deps{Seen: seen}), a) }
	seen.Note(tools.Local, "f", sum("one\ntwo\n"), []byte("one\ntwo\n"))
	b.host("f", "one\n2\n")
	b.want("error: conflict: f has changed since you saw it last (expected_hash="+short("one\n2\n")+" overwrites it)"+
		"\nwhat changed:\n--- seen\n+++ now\n@@ -1,2 +1,2 @@\n one\n-two\n+2", write(args{"path": "f", "content": "x\n"}))
	b.tree(map[string]string{"f": "one\n2\n", "g": "g\n"})
	b.want("f: unchanged, …", write(args{"path": "f", "content": "one\n2\n"}))
	b.want("f: appended …", write(args{"path": "f", "content": "3\n", "mode": "append"}))
	b.want("f: overwritten, …\n...", write(args{"path": "f", "content": "x\n"}))
	b.host("f", "y\n")
	b.want("f: overwritten, …\n...", write(args{"path": "f", "content": "z\n", "expected_hash": sum("y\n")}))
	b.host("g", "other\n") // never seen
	b.want("g: overwritten, …\n...", write(args{"path": "g", "content": "z\n"}))
}

// What the caller itself did is no surprise.
func TestWriteStaleNeverOfOwnChanges(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n", "b": "b\n", "d/x": "1\n", "e/x": "2\n"})
	seen := view.NewSeen(1 << 20)
	for name, content := range map[string]string{"a": "a\n", "b": "b\n", "d/x": "1\n", "e/x": "2\n"} {
		seen.Note(tools.Local, name, sum(content), []byte(content))
	}
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: b.ws})
	do := func(tool string, op workspace.Op) {
		t.Helper()
		if _, err := (change.Writer{Seen: seen}).Apply(ctx, workspace.Change{Tool: tool, Ops: []workspace.Op{op}}); err != nil {
			t.Fatal(err)
		}
	}
	write := func(a args) string { return b.run(tools.Local, tool(t, "write_file", files.Deps{Seen: seen}), a) }
	ok := func(path, content string) {
		t.Helper()
		b.want(path+": overwritten, …\n...", write(args{"path": path, "content": content}))
	}
	do("move_path", b.move("a", "b"))
	ok("b", "B\n")
	do("move_path", b.move("d", "e"))
	ok("e/x", "3\n")
	do("delete_path", b.remove("e"))
	b.host("e/x", "new\n")
	ok("e/x", "4\n")
	long := strings.Repeat("a line of some length\n", 500_000)
	b.host("a", long)
	seen.Note(tools.Local, "a", sum(long), nil)
	b.want("a: appended …", write(args{"path": "a", "content": "1\n", "mode": "append"}))
	b.want("a: overwritten, …\n...", write(args{"path": "a", "content": "1\n"}))
	b.host("a", long)
	write(args{"path": "a", "content": "1\n", "mode": "append"})
	b.host("a", "of others\n")
	b.want("error: conflict: a has changed since you saw it last …", write(args{"path": "a", "content": "1\n"}))
}

// Appends at once, among edits, lose nothing.
func TestWriteFileConcurrently(t *testing.T) {
	concurrently(t, "write_file", nil, func(_, line string) args { return args{"path": "f", "mode": "append", "content": line} })
}
