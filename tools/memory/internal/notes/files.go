package notes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/workspace/state"
)

// Files keeps notes in a folder of the state, one Markdown file each. The files are the
// truth: what a person writes, changes or removes counts from the next call on. Below
// .versions is a directory for each note with its versions, the last one too, so that an
// edit by hand loses nothing.
type Files struct {
	// Dir opens the directory of the state; its caller does not close it.
	Dir func() (*state.Dir, error)
	// Below is the directory of the owner in the folder.
	Below string

	mu    sync.Mutex
	known map[string]file // by name
	set   *Set
	swept time.Time
}

// file is a note as it was read, and what the file system says of it.
type file struct {
	note     *Note
	sum      [sha256.Size]byte
	size     int64
	modified time.Time
	settled  bool // it was read so long after it was modified that size and time tell of a later change
	adopt    bool // it was changed or copied by hand, and its version is not kept yet
}

const (
	folder    = "memory"
	versions  = ".versions"
	deleted   = "deleted" // in the directory of a note that was removed: since when
	extension = ".md"
	temporary = ".new"
	most      = 1 << 20 // bytes that are read of a file
	// coarse is more than the steps in which a file system counts time.
	coarse = 2 * time.Second
	// patience is how long a call waits for others that write.
	patience = 4500 * time.Millisecond
)

// open opens the directory of the owner. The caller closes it.
func (s *Files) open() (*state.Dir, *os.Root, error) {
	dir, err := s.Dir()
	if err != nil {
		return nil, nil, err
	}
	all, err := dir.Folder(folder)
	if err != nil {
		return nil, nil, err
	}
	defer all.Close()
	if err := all.MkdirAll(path.Join(s.Below, versions), 0o700); err != nil {
		return nil, nil, err
	}
	root, err := all.OpenRoot(s.Below)
	return dir, root, err
}

// Notes implements [Store].
func (s *Files) Notes(ctx context.Context) (*Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, root, err := s.open()
	if err != nil {
		return nil, database.Told(err)
	}
	defer root.Close()
	edited, err := s.load(ctx, root)
	if err != nil {
		return nil, database.Told(err)
	}
	if edited {
		// Where the state cannot be written, the notes can be read all the same.
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if lock, err := dir.Lock(limited, folder); err == nil {
			_ = s.adopt(ctx, root)
			if err := lock.Unlock(); err != nil {
				return nil, database.Told(err)
			}
		}
	}
	return s.set, ctx.Err()
}

// load brings what is known up to date. edited reports whether a note is to be adopted.
func (s *Files) load(ctx context.Context, root *os.Root) (edited bool, err error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return false, err
	}
	now, changed := map[string]file{}, s.set == nil
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || !strings.HasSuffix(name, extension) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		f, ok := s.known[name]
		if !ok || !f.settled || f.size != info.Size() || !f.modified.Equal(info.ModTime()) {
			begin := time.Now()
			data, err := read(root, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return false, err
			}
			old := f
			f = file{note: f.note, sum: sha256.Sum256(data), size: info.Size(), modified: info.ModTime(), adopt: f.adopt}
			f.settled = begin.Sub(f.modified) > coarse
			if !ok || old.sum != f.sum {
				changed = true
				f.note, f.adopt = Parse(data[:min(len(data), most)]), false
				if len(data) > most {
					f.note.Flaw = "only its first MiB is read"
				}
				if err := complete(root, name, &f); err != nil {
					return false, err
				}
			}
		}
		now[name] = f
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
	if changed || len(now) != len(s.known) {
		set := newSet(unique(now))
		if err := adoptCopies(root, now); err != nil {
			return false, err
		}
		s.known, s.set = now, set
	}
	for _, f := range s.known {
		edited = edited || f.adopt
	}
	return edited, nil
}

// adoptCopies marks notes of which no version is kept: a person has copied their files, as the
// program had written them, from another name or another directory.
func adoptCopies(root *os.Root, files map[string]file) error {
	entries, err := fs.ReadDir(root.FS(), versions)
	if err != nil {
		return err
	}
	kept := make(map[string]bool, len(entries))
	for _, e := range entries {
		kept[e.Name()] = true
	}
	for name, f := range files {
		if !kept[f.note.ID] {
			f.adopt = true
			files[name] = f
		}
	}
	return nil
}

// unique returns the notes of files, each with an ID of its own: of two copies, the later by
// name gets that of its name.
func unique(files map[string]file) []*Note {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	taken := map[string]bool{}
	var list []*Note
	for _, name := range names {
		f := files[name]
		if taken[f.note.ID] {
			copied := *f.note
			copied.ID = idOf(name)
			f.note = &copied
			files[name] = f
		}
		taken[f.note.ID] = true
		list = append(list, f.note)
	}
	return list
}

// complete fills in what a person leaves out, and tells an edit of theirs from the version
// that was kept last.
func complete(root *os.Root, name string, f *file) error {
	n := f.note
	if !IsID(n.ID) {
		n.ID = idOf(name)
	}
	if n.Topic == "" {
		n.Topic = cmp.Or(FirstLine(n.Content), strings.TrimSuffix(name, extension))
	}
	if !n.Edited() {
		return nil
	}
	kept, err := versionsIn(root, n.ID)
	if err != nil {
		return err
	}
	n.Digest = n.digest()
	if len(kept) > 0 {
		last := kept[len(kept)-1]
		n.Created = last.Created
		if last.Digest == n.Digest { // it was adopted
			n.Version, n.Updated, n.Author = last.Version, last.Updated, last.Author
			return nil
		}
		n.Version = last.Version
	}
	n.Version++
	n.Updated, n.Author, f.adopt = f.modified.UTC().Truncate(time.Second), Person, true
	if n.Created.IsZero() {
		n.Created = n.Updated
	}
	return nil
}

// adopt keeps the versions of notes that were edited or copied by hand. The caller holds the lock.
func (s *Files) adopt(ctx context.Context, root *os.Root) error {
	for name, f := range s.known {
		if !f.adopt {
			continue
		}
		if _, err := keep(root, f.note); err != nil {
			return err
		}
		f.adopt = false
		s.known[name] = f
	}
	return ctx.Err()
}

// Change implements [Store].
func (s *Files) Change(ctx context.Context, f func(*Set) (Batch, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, root, err := s.open()
	if err != nil {
		return database.Told(err)
	}
	defer root.Close()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lock, err := dir.Lock(limited, folder)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return tools.Errorf(tools.Unavailable, "the memories are locked by another process").WithHint("call again")
	case err != nil:
		return database.Told(err)
	}
	err = s.change(ctx, root, f)
	return database.Told(errors.Join(err, lock.Unlock()))
}

func (s *Files) change(ctx context.Context, root *os.Root, f func(*Set) (Batch, error)) error {
	if _, err := s.load(ctx, root); err != nil {
		return err
	}
	if err := s.adopt(ctx, root); err != nil {
		return err
	}
	if err := s.sweep(root); err != nil {
		return err
	}
	batch, err := f(s.set)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for name, f := range s.known {
		names[f.note.ID] = name
	}
	// These come first: if one fails nothing was written, as its error says.
	for _, id := range batch.Remove {
		if err := put(root, path.Join(versions, id, deleted), []byte(time.Now().UTC().Format(time.RFC3339)+"\n")); err != nil {
			return err
		}
		if err := root.Remove(names[id]); err != nil {
			return err
		}
	}
	for _, n := range batch.Write {
		if err := s.write(root, n, cmp.Or(names[n.ID], slug(n.Topic)+"-"+n.ID+extension)); err != nil {
			return err
		}
	}
	return syncDir(root, ".")
}

// write keeps a version of a note and then makes it the current one.
func (s *Files) write(root *os.Root, n *Note, name string) error {
	data, err := keep(root, n)
	if err != nil {
		return err
	}
	delete(s.known, name) // its time may be that of the one before
	if err := put(root, name, data); err != nil {
		return errors.Join(err, root.Remove(versionOf(n))) // there never was one
	}
	return nil
}

// versionOf returns the name of a version of a note.
func versionOf(n *Note) string {
	return path.Join(versions, n.ID, strconv.FormatInt(n.Version, 10)+extension)
}

// keep writes a version of a note below .versions and returns its data.
func keep(root *os.Root, n *Note) ([]byte, error) {
	data, err := Format(n)
	if err != nil {
		return nil, err
	}
	dir := path.Join(versions, n.ID)
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := root.Remove(path.Join(dir, deleted)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := put(root, versionOf(n), data); err != nil {
		return nil, err
	}
	return data, errors.Join(syncDir(root, dir), syncDir(root, versions))
}

// put writes a whole file or none.
func put(root *os.Root, name string, data []byte) error {
	temp := path.Join(path.Dir(name), temporary)
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return root.Rename(temp, name)
}

func syncDir(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	_ = d.Sync() // some systems have none for directories
	return d.Close()
}

func read(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// Versions implements [Store].
func (s *Files) Versions(ctx context.Context, id string) ([]*Note, error) {
	if !IsID(id) {
		return nil, ctx.Err()
	}
	_, root, err := s.open()
	if err != nil {
		return nil, database.Told(err)
	}
	defer root.Close()
	list, err := versionsIn(root, id)
	return list, cmp.Or(ctx.Err(), database.Told(err))
}

func versionsIn(root *os.Root, id string) ([]*Note, error) {
	entries, err := fs.ReadDir(root.FS(), path.Join(versions, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []*Note
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), extension) {
			continue
		}
		data, err := read(root, path.Join(versions, id, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n := Parse(data); n.ID == id && !n.Edited() {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b *Note) int { return cmp.Compare(a.Version, b.Version) })
	return list, nil
}

// Removed implements [Store].
func (s *Files) Removed(ctx context.Context) ([]*Note, error) {
	set, err := s.Notes(ctx)
	if err != nil {
		return nil, err
	}
	_, root, err := s.open()
	if err != nil {
		return nil, database.Told(err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), versions)
	var list []*Note
	for _, e := range entries {
		if set.Find(e.Name()) != nil {
			continue
		}
		kept, err := versionsIn(root, e.Name())
		if err != nil {
			return nil, database.Told(err)
		}
		if len(kept) > 0 {
			list = append(list, kept[len(kept)-1])
		}
	}
	return list, database.Told(err)
}

// sweep removes, once an hour at most, versions and removed notes that are older than the
// retention.
func (s *Files) sweep(root *os.Root) error {
	now := time.Now()
	if now.Sub(s.swept) < time.Hour {
		return nil
	}
	s.swept = now
	entries, err := fs.ReadDir(root.FS(), versions)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := sweepNote(root, path.Join(versions, e.Name()), s.set.Find(e.Name()), now); err != nil {
			return err
		}
	}
	return nil
}

// sweepNote removes what is too old of a note; live is its current version, nil = it was
// removed.
func sweepNote(root *os.Root, dir string, live *Note, now time.Time) error {
	mark, err := root.Stat(path.Join(dir, deleted))
	switch {
	case live == nil && errors.Is(err, fs.ErrNotExist): // by hand
		return put(root, path.Join(dir, deleted), nil)
	case live == nil && err == nil && now.Sub(mark.ModTime()) > Retention:
		return root.RemoveAll(dir)
	case live == nil:
		return err
	}
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if now.Sub(info.ModTime()) > Retention && e.Name() != strconv.FormatInt(live.Version, 10)+extension {
			if err := root.Remove(path.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// idLength is the length of an ID.
const idLength = 8

// idOf returns the ID of a file that has none.
func idOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:idLength]
}

// IsID reports whether a text has the form of an ID.
func IsID(id string) bool {
	return len(id) == idLength && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// FirstLine returns the first line of a text that says something, shortened to a topic.
func FirstLine(text string) string {
	const longest = 100
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#*->")); line != "" {
			if r := []rune(line); len(r) > longest {
				line = string(r[:longest-1]) + "…"
			}
			return line
		}
	}
	return ""
}

// slug is a topic as a part of a file name.
func slug(topic string) string {
	const longest = 40
	words := strings.FieldsFunc(strings.ToLower(topic), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	r := []rune(strings.Join(words, "-"))
	return cmp.Or(strings.Trim(string(r[:min(len(r), longest)]), "-"), "note")
}
