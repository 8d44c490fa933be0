package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/files"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// A dry run shows what the real run does, and does nothing.
func TestApplyPatchDryRun(t *testing.T) {
	tree := map[string]string{"a.txt": "one\ntwo\n", "b.txt": "b\n", "c.txt": "c\n", "x": "x\r\ny\r\n"}
	diff := strings.Join([]string{
		"*** Begin Patch", "*** Update File: a.txt", "-two", "+2", "*** Add File: n/n.txt", "+new", "*** Delete File: b.txt",
		"*** Update File: c.txt", "*** Move to: d.txt", "-c", "+d", "*** Update File: x", "-y", "+z", "*** End Patch",
	}, "\n")
	r := newPatcher(t, files.Deps{}, tree)
	dry := r.call(map[string]any{"patch": diff, "dry_run": true})
	if d := tooltest.Differ(tree, tooltest.Contents(t, r.dir)); d != "" {
		t.Fatalf("a dry run changed\n%s", d)
	}
	real := r.call(map[string]any{"patch": diff})
	want := tooltest.Contents(t, r.dir)

	// The lines of the files are the same but for the tense.
	head, shown, _ := strings.Cut(dry, "\n--- ")
	_, planned, _ := strings.Cut(head, "\n")
	_, done, _ := strings.Cut(real, "\n")
	if planned = strings.ReplaceAll(planned, "hash would be ", "hash "); planned != done {
		t.Errorf("dry run:\n%s\nreal run:\n%s", planned, done)
	}
	// The diff of the dry run, itself applied as a patch, does the same. It shows no
	// move: the new name has the change.
	shown = "--- " + strings.Replace(shown, "--- c.txt\n+++ d.txt", "rename from c.txt\nrename to d.txt\n--- c.txt\n+++ d.txt", 1)
	shown = strings.Replace(shown, "rename from", "diff --git a/c.txt b/d.txt\nrename from", 1)
	again := newPatcher(t, files.Deps{}, tree)
	again.call(map[string]any{"patch": shown + "\n"})
	if d := tooltest.Differ(want, tooltest.Contents(t, again.dir)); d != "" {
		t.Errorf("%s\n%s", shown, d)
	}
}

// manyFiles makes a patch of n files, which change or are added.
func manyFiles(n int) (tree map[string]string, text string) {
	tree = map[string]string{}
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	for i := range n {
		name := fmt.Sprintf("some/long/directory/with/quite/a/long/name/%044d.txt", i)
		tree[name] = fmt.Sprintf("%d\nold\n", i)
		fmt.Fprintf(&b, "*** Update File: %s\n-old\n+new\n", name)
	}
	return tree, b.String() + "*** End Patch\n"
}

// Results and errors of many files keep within what a result may have, and say what
// they leave out.
func TestApplyPatchOfManyFiles(t *testing.T) {
	tree, text := manyFiles(600)
	r := newPatcher(t, files.Deps{}, tree)
	dry := r.call(map[string]any{"patch": text, "dry_run": true})
	if !strings.Contains(dry, "files more are left out") {
		t.Errorf("no word of what is left out: %s", dry[len(dry)-200:])
	}
	result := r.call(map[string]any{"patch": text})
	if !strings.Contains(result, "more files; file_history with limit=1 lists all") {
		t.Errorf("no word of what is left out: %s", result[len(result)-200:])
	}
	for name, old := range tree {
		if got := r.content(name); got != strings.Replace(old, "old", "new", 1) {
			t.Fatalf("%s: %q", name, got)
		}
	}
	refused := r.try(map[string]any{"patch": text}) // nothing is old any more
	if !strings.HasPrefix(refused, "error: invalid_argument: 600 problems; nothing is changed\n") {
		t.Errorf("%.200s", refused)
	}
}

// All problems are told, each with its diagnosis, within what an error may have.
func TestApplyPatchTellsAllProblems(t *testing.T) {
	tree := map[string]string{}
	var lines []string
	for i := range 20 {
		name := fmt.Sprintf("f%02d", i)
		tree[name] = strings.Repeat("some line that is rather long and comes first\n", 20) + "the  needle\n"
		lines = append(lines, "*** Update File: "+name, " before", "-the needle of another kind", "+x")
	}
	r := newPatcher(t, files.Deps{}, tree)
	text := r.try(map[string]any{"patch": envelope(lines...)})
	for i := range 20 {
		if !strings.Contains(text, fmt.Sprintf("invalid_argument: f%02d: ", i)) {
			t.Errorf("f%02d is not told", i)
		}
	}
	if len(text) > tools.MaxErrorText {
		t.Errorf("%d bytes", len(text))
	}
	if d := tooltest.Differ(tree, tooltest.Contents(t, r.dir)); d != "" {
		t.Error(d)
	}
}

// A hunk that does not fit any more is answered with what changed.
func TestApplyPatchToldWhatChanged(t *testing.T) {
	seen := view.NewSeen(1 << 20)
	r := newPatcher(t, files.Deps{Seen: seen}, map[string]string{"a.txt": "one\nzwei\n"})
	was := "one\ntwo\n"
	seen.Note(tools.Local, "a.txt", sum(was), []byte(was))
	text := r.try(map[string]any{"patch": envelope("*** Update File: a.txt", "-two", "+2")})
	for _, want := range []string{"has changed since you read it", "-two", "+zwei", short("one\nzwei\n")} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	r.write("a.txt", was)
	if text := r.call(map[string]any{"patch": envelope("*** Update File: a.txt", "-two", "+2")}); !strings.HasPrefix(text, "patched 1 file") {
		t.Error(text)
	}
	if hash, _, _ := seen.Last(tools.Local, "a.txt"); hash != sum("one\n2\n") {
		t.Error("what was written is not remembered")
	}
}

// No section leads out of the workspace.
func TestApplyPatchStaysInside(t *testing.T) {
	r := newPatcher(t, files.Deps{}, map[string]string{
		"in.txt": "secret\n", "out_dir": "-> ../outside", "out_file": "-> ../outside/secret.txt", "up": "-> ..", "loop": "-> loop", "gone": "-> ../outside/new.txt",
	})
	outside := filepath.Join(filepath.Dir(r.dir), "outside")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	inside := tooltest.Contents(t, r.dir)
	for _, path := range []string{
		"../outside/secret.txt", outside + "/secret.txt", "out_dir/secret.txt", "out_file", "up/outside/secret.txt", "a/../../outside/secret.txt", "loop", "gone",
		"out_dir/new/file", "../new", "/etc/passwd", "/proc/self/environ", "..", ".", "/", "a\x00b", "file:///etc/passwd", r.dir + "-evil/x", strings.Repeat("x", 300), strings.Repeat("x/", 3000) + "f",
	} {
		for _, lines := range [][]string{
			{"*** Update File: " + path, "-secret", "+x"},
			{"*** Add File: " + path, "+x"},
			{"*** Update File: " + path, "*** Move to: here.txt"},
			{"*** Update File: in.txt", "*** Move to: " + path},
			{"*** Update File: in.txt", "*** Move to: " + path, "-secret"},
			{"*** Delete File: " + path},
		} {
			link := path == "out_file" || path == "loop" || path == "gone"
			if link && (strings.HasPrefix(lines[0], "*** Delete") || lines[len(lines)-1] == "*** Move to: here.txt") {
				continue // the link itself lies inside
			}
			text := r.try(map[string]any{"patch": envelope(lines...)})
			if !strings.HasPrefix(text, "error: ") || strings.HasPrefix(text, "error: internal") {
				t.Errorf("%q: %s", lines, text)
			}
		}
	}
	if d := tooltest.Differ(map[string]string{"secret.txt": "secret\n"}, tooltest.Contents(t, outside)); d != "" {
		t.Errorf("outside: %s", d)
	}
	if d := tooltest.Differ(inside, tooltest.Contents(t, r.dir)); d != "" {
		t.Errorf("inside: %s", d)
	}
}

// A patch that failed leaves the bytes, and its inverse restores them.
func TestApplyPatchInverse(t *testing.T) {
	g := newGit(t)
	for seed := range uint64(5) {
		before, after := seeded(seed).tree()
		diff := g.between(before, after, "-U2", "--no-renames")
		r := newPatcher(t, files.Deps{}, before)
		r.call(map[string]any{"patch": diff})
		r.call(map[string]any{"patch": g.between(after, before, "-U2", "--no-renames")})
		got := tooltest.Contents(t, r.dir)
		for name := range got {
			if strings.HasSuffix(name, "/") {
				delete(got, name)
			}
		}
		if d := tooltest.Differ(before, got); d != "" {
			t.Errorf("seed %d:\n%s", seed, d)
		}
	}
}

func TestApplyPatchModes(t *testing.T) {
	for _, c := range []struct {
		name, patch, file string
		before, want      os.FileMode
	}{
		{"kept", envelope("*** Update File: a", "-one", "+1"), "a", 0o640, 0o640},
		{"kept by a move", envelope("*** Update File: a", "*** Move to: b", "-one", "+1"), "b", 0o600, 0o600},
		{"kept by a copy", "diff --git a/a b/b\ncopy from a\ncopy to b\n", "b", 0o750, 0o750},
		{"executable", "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n", "a", 0o640, 0o750},
		{"not executable", "diff --git a/a b/a\nold mode 100755\nnew mode 100644\n", "a", 0o755, 0o644},
		{"executable and moved", "diff --git a/a b/b\nold mode 100644\nnew mode 100755\nrename from a\nrename to b\n", "b", 0o644, 0o755},
		{"new and executable", "diff --git a/b b/b\nnew file mode 100755\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n", "b", 0o644, 0o755},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newPatcher(t, files.Deps{}, map[string]string{"a": "one\n"})
			if err := os.Chmod(filepath.Join(r.dir, "a"), c.before); err != nil {
				t.Fatal(err)
			}
			r.call(map[string]any{"patch": c.patch})
			info, err := os.Stat(filepath.Join(r.dir, c.file))
			if err != nil || info.Mode() != c.want {
				t.Errorf("%v, %v; want %v", info.Mode(), err, c.want)
			}
		})
	}
}

// Patches of one file at the same time lose nothing.
func TestApplyPatchConcurrently(t *testing.T) {
	const workers, each = 4, 10
	r := newPatcher(t, files.Deps{Seen: view.NewSeen(1 << 20)}, map[string]string{"a.txt": "first\nlast\n"})
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				if text := r.try(map[string]any{"patch": envelope("*** Update File: a.txt", fmt.Sprintf("+%d/%d", w, i), " last")}); strings.HasPrefix(text, "error: ") {
					t.Error(text)
				}
			}
		})
	}
	wg.Wait()
	got := r.content("a.txt")
	if n := strings.Count(got, "\n"); n != workers*each+2 {
		t.Errorf("%d lines:\n%s", n, got)
	}
}

func TestApplyPatchAsksBeforeALoss(t *testing.T) {
	b := newBench(t, map[string]string{"small": "x\n", "big": ""})
	if err := os.Truncate(filepath.Join(b.dir, "big"), workspace.MaxKept+1); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"*** Begin Patch\n*** Delete File: small\n*** End Patch":                       "",
		"*** Begin Patch\n*** Delete File: small\n*** Delete File: big\n*** End Patch": "delete big (67 MB); the history does not keep files above 67 MB, so it cannot be undone",
	} {
		if got := b.question("apply_patch", args{"patch": text}); got != want {
			t.Errorf("%s: asked %q, want %q", text, got, want)
		}
		if got := b.question("apply_patch", args{"patch": text, "dry_run": true}); got != "" {
			t.Errorf("a dry run asks %q", got)
		}
	}
}
