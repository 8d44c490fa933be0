package edits

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// cutPatch is a patch of several files, and where it can end and still be one.
type cutPatch struct {
	name  string
	files map[string]string // before it
	text  strings.Builder
	ends  map[int]bool
}

// part writes lines of the patch after which it can end, with its last line feed or without;
// so it can before a last line that says that there is no line feed in the file.
func (c *cutPatch) part(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.text.WriteString(text)
	open := len(text) - len(strings.TrimSuffix(text, "\\ No newline at end of file\n"))
	for _, end := range []int{c.text.Len(), c.text.Len() - open} {
		c.ends[end], c.ends[end-1] = true, true
	}
}

// cutPatches cuts git diffs and envelopes off at every byte at which that can be told, and
// holds that nothing of them is applied then.
func cutPatches(server *harness.ToolUser, dir string, changes []fileChange, wanted int) error {
	var small []fileChange
	for _, c := range changes {
		size := 0
		for _, h := range c.hunks[3] {
			size += len(h.body)
		}
		if size < 700 && len(c.before) < 30_000 && len(small) < 2*wanted {
			small = append(small, c)
		}
	}
	if len(small) < 2*wanted {
		return fmt.Errorf("%d small changes to cut, want %d", len(small), 2*wanted)
	}
	var failed []error
	fmt.Println("\n| patches cut off | cut at bytes | refused | applied in part |\n|---|---|---|---|")
	for _, form := range []struct {
		name string
		of   func(c *cutPatch, a, b fileChange)
	}{{"git diff", gitDiffToCut}, {"envelope", envelopeToCut}} {
		cuts, applied := 0, 0
		for i := range wanted {
			c := &cutPatch{name: filepath.Join(dir, fmt.Sprintf("cut-%s-%d", form.name[:3], i)), ends: map[int]bool{}}
			a, b := small[2*i], small[2*i+1]
			c.files = map[string]string{"a.txt": a.before, "b.txt": b.before, "gone.txt": "one\ntwo\n", "empty.txt": "", "moved.txt": "a line that moves\n", "kept.txt": "a\nb\nc\nd\n"}
			form.of(c, a, b)
			n, wrong, err := c.try(server)
			if err != nil {
				return err
			}
			cuts, applied = cuts+n, applied+wrong
		}
		fmt.Printf("| %d of form %s | %d | %d | %d |\n", wanted, form.name, cuts, cuts-applied, applied)
		if applied > 0 {
			failed = append(failed, fmt.Errorf("%s: %d cut off were applied in part", form.name, applied))
		}
	}
	return errors.Join(failed...)
}

// try cuts the patch at every byte, and then applies it whole.
func (c *cutPatch) try(server *harness.ToolUser) (cuts, applied int, err error) {
	if err := c.plant(); err != nil {
		return 0, 0, err
	}
	text := c.text.String()
	for at := 1; at < len(text); at++ {
		if c.ends[at] {
			continue
		}
		answer, err := server.Use("apply_patch", map[string]any{"patch": text[:at]})
		if err != nil {
			return 0, 0, err
		}
		if cuts++; !answer.Failed {
			applied++
			fmt.Printf("- applied, cut after %.300q: %s\n", text[max(0, at-60):at], harness.Brief(answer.Text))
			if err := c.plant(); err != nil {
				return 0, 0, err
			}
		}
	}
	for name, want := range c.files {
		if got, err := os.ReadFile(filepath.Join(c.name, name)); err != nil || string(got) != want {
			return 0, 0, fmt.Errorf("a refused patch has changed %s: %w", name, err)
		}
	}
	if _, err := server.Must("apply_patch", map[string]any{"patch": text}); err != nil {
		return 0, 0, fmt.Errorf("whole: %w\n%s", err, text)
	}
	return cuts, applied, nil
}

// plant makes the files as they are before the patch.
func (c *cutPatch) plant() error {
	if err := errors.Join(os.RemoveAll(c.name), os.MkdirAll(c.name, 0o755)); err != nil {
		return err
	}
	for name, text := range c.files {
		if err := os.WriteFile(filepath.Join(c.name, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// gitDiffToCut writes a git diff of every kind of section.
func gitDiffToCut(c *cutPatch, a, b fileChange) {
	dir := filepath.Base(c.name)
	head := func(name string) string { return fmt.Sprintf("diff --git a/%[1]s/%[2]s b/%[1]s/%[2]s\n", dir, name) }
	changed := func(name string, hunks []diffHunk) {
		fmt.Fprintf(&c.text, "%sindex 1234567..89abcde 100644\n--- a/%[2]s/%[3]s\n+++ b/%[2]s/%[3]s\n", head(name), dir, name)
		for _, h := range hunks {
			c.part("%s%s", h.head(), h.body)
		}
	}
	changed("a.txt", a.hunks[3])
	c.part("%snew file mode 100644\nindex 0000000..89abcde\n--- /dev/null\n+++ b/%s/made.txt\n@@ -0,0 +1,3 @@\n+one\n+\n+three\n", head("made.txt"), dir)
	c.part("%sdeleted file mode 100644\nindex 1234567..0000000\n--- a/%s/gone.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n", head("gone.txt"), dir)
	c.part("%sdeleted file mode 100644\nindex e69de29..0000000\n", head("empty.txt"))
	c.part("diff --git a/%[1]s/moved.txt b/%[1]s/there.txt\nsimilarity index 100%%\nrename from %[1]s/moved.txt\nrename to %[1]s/there.txt\n", dir)
	c.part("%sold mode 100644\nnew mode 100755\n", head("kept.txt"))
	fmt.Fprintf(&c.text, "index 1234567..89abcde\n--- a/%[1]s/kept.txt\n+++ b/%[1]s/kept.txt\n", dir)
	c.part("@@ -2,3 +2,4 @@ a\n b\n-c\n+C\n d\n+\n")
	changed("b.txt", b.hunks[3])
	c.part("%snew file mode 100644\nindex 0000000..e69de29\n", head("void.txt"))
}

// envelopeToCut writes the same as an envelope, which can end in one place only.
func envelopeToCut(c *cutPatch, a, b fileChange) {
	dir := filepath.Base(c.name)
	changed := func(name string, hunks []diffHunk) {
		fmt.Fprintf(&c.text, "*** Update File: %s/%s\n", dir, name)
		for _, h := range hunks {
			c.text.WriteString("@@\n" + h.body)
		}
	}
	c.text.WriteString("*** Begin Patch\n")
	changed("a.txt", a.hunks[3])
	fmt.Fprintf(&c.text, "*** Add File: %[1]s/made.txt\n+one\n+\n+three\n*** Delete File: %[1]s/gone.txt\n", dir)
	fmt.Fprintf(&c.text, "*** Update File: %[1]s/moved.txt\n*** Move to: %[1]s/there.txt\n*** Update File: %[1]s/kept.txt\n@@ a\n b\n-c\n+C\n d\n*** End of File\n", dir)
	changed("b.txt", b.hunks[3])
	c.part("*** End Patch\n")
}
