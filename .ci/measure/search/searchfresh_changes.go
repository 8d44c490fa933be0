package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// freshWord is one of two hundred words, which no other file has.
func freshWord(random *rand.Rand) string { return fmt.Sprintf("zq%03dxv", random.IntN(200)) }

// freshText is a text with a few such words.
func freshText(random *rand.Rand) []byte {
	var b bytes.Buffer
	for range 1 + random.IntN(40) {
		fmt.Fprintf(&b, "\tline %d", random.IntN(1000))
		for range random.IntN(4) {
			b.WriteString(" " + freshWord(random))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// freshChanges are the ways to change the tree, each as often as its weight says.
var freshChanges = []struct {
	name   string
	weight int
	make   func(f *freshTree, ctx context.Context, e freshEntries) error
}{
	{"overwrite", 14, func(f *freshTree, _ context.Context, e freshEntries) error {
		return os.WriteFile(f.one(e.files), freshText(f.random), 0o644)
	}},
	{"append", 8, func(f *freshTree, _ context.Context, e freshEntries) error {
		return appendTo(f.one(e.files), freshText(f.random))
	}},
	{"replace", 10, func(f *freshTree, _ context.Context, e freshEntries) error {
		temp := filepath.Join(f.one(e.dirs), ".new")
		return errors.Join(os.WriteFile(temp, freshText(f.random), 0o644), os.Rename(temp, f.one(e.files)))
	}},
	{"same size, same time", 6, func(f *freshTree, _ context.Context, e freshEntries) error { return f.disguise(f.one(e.files)) }},
	{"truncate", 2, func(f *freshTree, _ context.Context, e freshEntries) error {
		return os.Truncate(f.one(e.files), f.random.Int64N(200))
	}},
	{"binary", 2, func(f *freshTree, _ context.Context, e freshEntries) error {
		return os.WriteFile(f.one(e.files), append([]byte("\x00"), freshText(f.random)...), 0o644)
	}},
	{"create", 12, func(f *freshTree, _ context.Context, e freshEntries) error {
		return os.WriteFile(filepath.Join(f.one(e.dirs), f.name()), freshText(f.random), 0o644)
	}},
	{"directories", 6, func(f *freshTree, _ context.Context, e freshEntries) error { return f.directories(f.one(e.dirs)) }},
	{"rename", 10, func(f *freshTree, _ context.Context, e freshEntries) error {
		return os.Rename(f.one(e.files), filepath.Join(f.one(e.dirs), f.name()))
	}},
	{"rename directory", 5, func(f *freshTree, _ context.Context, e freshEntries) error {
		from, to := f.one(e.dirs), filepath.Join(f.one(e.dirs), f.name())
		if from == f.dir || strings.HasPrefix(to, from+"/") {
			return nil
		}
		return os.Rename(from, to)
	}},
	{"out and in again", 2, func(f *freshTree, _ context.Context, e freshEntries) error {
		from, out := f.one(e.dirs), f.dir+".out"
		if from == f.dir {
			return nil
		}
		return errors.Join(os.Rename(from, out), os.WriteFile(filepath.Join(out, f.name()), freshText(f.random), 0o644), os.Rename(out, from))
	}},
	{"delete", 10, func(f *freshTree, _ context.Context, e freshEntries) error { return os.Remove(f.one(e.files)) }},
	{"delete directory", 2, func(f *freshTree, _ context.Context, e freshEntries) error {
		if dir := f.one(e.dirs); dir != f.dir {
			return os.RemoveAll(dir)
		}
		return nil
	}},
	{"ignore rules", 12, func(f *freshTree, _ context.Context, e freshEntries) error { return f.rules(e) }},
	{"hard link", 3, func(f *freshTree, ctx context.Context, e freshEntries) error { return f.link(ctx, f.one(e.files)) }},
	{"symlink", 1, func(f *freshTree, _ context.Context, e freshEntries) error {
		return os.Symlink(f.one(e.dirs), filepath.Join(f.one(e.dirs), f.name()))
	}},
	{"branch", 4, func(f *freshTree, ctx context.Context, _ freshEntries) error {
		_, err := git(ctx, f.dir, "checkout", "-q", "-f", []string{"main", "other"}[f.random.IntN(2)])
		return err
	}},
}

// freshEntries are what there is to change, as absolute paths.
type freshEntries struct{ files, dirs []string }

// change makes one change and says which.
func (f *freshTree) change(ctx context.Context) (string, error) {
	e, err := f.entries()
	if err != nil {
		return "look", err
	}
	switch {
	case f.random.IntN(500) == 0:
		return "too many events", f.flood(f.one(e.files), f.one(e.files))
	case len(e.files) > 1200: // what is ignored too
		_, err := git(ctx, f.dir, "clean", "-fdqx")
		return "clean", err
	case len(e.files) < 300:
		_, err := git(ctx, f.dir, "checkout", "-q", "-f", "main")
		return "branch", err
	}
	total := 0
	for _, c := range freshChanges {
		total += c.weight
	}
	at := f.random.IntN(total)
	for _, c := range freshChanges {
		if at -= c.weight; at < 0 {
			return c.name, c.make(f, ctx, e)
		}
	}
	return "", nil
}

func (f *freshTree) entries() (e freshEntries, err error) {
	err = filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			e.dirs = append(e.dirs, path)
		case d.Type().IsRegular():
			e.files = append(e.files, path)
		}
		return nil
	})
	return e, err
}

func (f *freshTree) one(of []string) string { return of[f.random.IntN(len(of))] }

// name is a new name. Rules of rules hit some of them.
func (f *freshTree) name() string {
	return fmt.Sprintf("%s%04d.%s", f.one([]string{"a", "b", ".h"}), f.random.IntN(10_000), f.one([]string{"go", "txt", "log", "tmp"}))
}

func appendTo(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// disguise changes words of a file and leaves size and time of change as they were.
func (f *freshTree) disguise(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i := 0; i+7 <= len(text); {
		at := bytes.Index(text[i:], []byte("zq"))
		if at < 0 || i+at+7 > len(text) {
			break
		}
		i += at
		i += copy(text[i:], freshWord(f.random))
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(text, 0)
	return errors.Join(err, file.Close(), os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// link gives a file another name and writes to that. The name is in a directory that no
// rule ignores: of the others nobody tells the server what is made in them.
func (f *freshTree) link(ctx context.Context, from string) error {
	listed, err := f.ripgrepped(ctx, searchQuery{pattern: "**", form: listForm})
	if err != nil || len(listed) == 0 {
		return err
	}
	to := filepath.Join(f.dir, filepath.Dir(f.one(listed)), f.name())
	return errors.Join(os.Link(from, to), appendTo(to, freshText(f.random)))
}

// directories makes a directory in a directory with files in each.
func (f *freshTree) directories(in string) error {
	for range 1 + f.random.IntN(3) {
		in = filepath.Join(in, f.name())
		if err := os.MkdirAll(in, 0o755); err != nil {
			return err
		}
		for range f.random.IntN(4) {
			if err := os.WriteFile(filepath.Join(in, f.name()), freshText(f.random), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// rules edits or takes away the ignore rules of a directory or of the repository.
func (f *freshTree) rules(e freshEntries) error {
	file := filepath.Join(f.one(e.dirs), f.one([]string{".gitignore", ".gitignore", ".ignore"}))
	if f.random.IntN(4) == 0 {
		file = filepath.Join(f.dir, ".git", "info", "exclude")
	}
	if f.random.IntN(3) == 0 {
		err := os.Remove(file)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	rules := []string{"*.log", "*.tmp", "!*.log", "a*", "b1*/", "/b*", "!b2*", "*_test.go", "**/testdata/",
		filepath.Base(f.one(e.files)), "/" + filepath.Base(f.one(e.dirs)) + "/"}
	f.random.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	text := strings.Join(rules[:1+f.random.IntN(3)], "\n") + "\n"
	return os.WriteFile(file, []byte(text), 0o644)
}

// flood writes to two files in turn until the kernel's queue of events is over.
func (f *freshTree) flood(a, b string) error {
	var files []*os.File
	var errs []error
	for _, path := range []string{a, b} {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		files = append(files, file)
	}
	for i := range 20_000 { // the queue holds 16,384
		if _, err := files[i%2].WriteString("\n"); err != nil {
			errs = append(errs, err)
		}
	}
	for _, file := range slices.Backward(files) {
		_, err := file.Write(freshText(f.random))
		errs = append(errs, err, file.Close())
	}
	return errors.Join(errs...)
}
