package tree

import (
	"context"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"toolcrib/workspace/internal/fsys"
)

// Copied describes a copy of a tree.
type Copied struct {
	size Size // of the original, as it was found
	// Lost names the attributes that the system refused to copy, as fsys.KeepAttributes
	// does, each once.
	Lost []string
}

// Copy copies the entry name of from to the new entry as of to: files with their
// permissions, extended attributes and times, links with their text. Hard links become
// files of their own. The owner is the caller, or with owner set, if the system allows it,
// that of the original. If as exists, the error is fs.ErrExist. Copy refuses special files
// before it makes anything, with fsys.ErrSpecial in an *Error. After any other error the
// caller removes the unfinished copy. Temporary files of changes are left out, also if the
// copy itself is made in the tree under such a name.
func Copy(ctx context.Context, from fsys.Dir, name string, to fsys.Dir, as string, owner bool) (Copied, error) {
	size, err := countIn(ctx, from, name, nil, nil)
	if err != nil {
		return Copied{}, err
	}
	if size.Special != "" {
		return Copied{}, &Error{size.Special, fsys.ErrSpecial}
	}
	c := &treeCopy{ctx: ctx, as: as, owner: owner, way: descent{top: to}}
	c.done.size = size
	defer c.way.close()
	err = Walk(ctx, from, name, Visit{Entry: c.entry, Enter: c.enter, leave: c.leave})
	return c.done, err
}

// treeCopy goes down in the copy as the walk does in the original.
type treeCopy struct {
	ctx   context.Context
	as    string
	owner bool
	way   descent
	times []time.Time // of the directories of the way
	done  Copied
}

// name returns the name of an entry in the copy.
func (c *treeCopy) name(of string) string {
	if len(c.way.steps) == 0 {
		return c.as
	}
	return of
}

func (c *treeCopy) entry(in fsys.Dir, e fsys.DirEntry) error {
	to, err := c.way.at()
	if err != nil {
		return err
	}
	info, err := in.Stat(e.Name)
	if err != nil {
		return err
	}
	name := c.name(e.Name)
	switch info.Kind {
	case fsys.KindFile:
		err = c.file(in, e.Name, to, name)
	case fsys.KindSymlink:
		if err = to.Symlink(info.Target, name); err == nil {
			err = to.Chtimes(name, info.ModTime)
		}
	default:
		err = fsys.WantFile(info.Kind)
	}
	return err
}

func (c *treeCopy) file(in fsys.Dir, name string, to fsys.Dir, as string) error {
	from, info, err := in.OpenRead(name)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := to.Create(as, 0o600)
	if err != nil {
		return err
	}
	err = c.fill(f, from, info)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return to.Chtimes(as, info.ModTime)
}

// fill makes f a copy of from as it was when it was opened, with its holes.
func (c *treeCopy) fill(f, from *os.File, info fsys.Info) error {
	for at := int64(0); at < info.Size; {
		start, end, err := fsys.DataAfter(from, at, info.Size)
		if err != nil {
			return err
		}
		if start == info.Size {
			if err := f.Truncate(start); err != nil {
				return err
			}
		}
		err = c.section(f, from, start, end)
		if err == io.EOF {
			break // it is shorter now
		}
		if err != nil {
			return err
		}
		at = end
	}
	return c.attributes(from, f, info.Mode.Perm())
}

// copyStep is how many bytes are copied between two looks at the context.
const copyStep = 64 << 20

// section copies the bytes from start to end; io.EOF if there are fewer. The kernel copies
// them itself, or lets the files share them, if it can.
func (c *treeCopy) section(f, from *os.File, start, end int64) error {
	for _, file := range []*os.File{f, from} {
		if _, err := file.Seek(start, io.SeekStart); err != nil {
			return err
		}
	}
	for left := end - start; left > 0; left -= copyStep {
		if err := context.Cause(c.ctx); err != nil {
			return err
		}
		if _, err := io.CopyN(f, from, min(left, copyStep)); err != nil {
			return err
		}
	}
	return nil
}

// lose notes an attribute that could not be copied, "" = none.
func (c *treeCopy) lose(what string) {
	if what != "" && !slices.Contains(c.done.Lost, what) {
		c.done.Lost = append(c.done.Lost, what)
	}
}

// attributes ends the copy of a file or directory. Permissions come last, as in
// fsys.KeepAttributes.
func (c *treeCopy) attributes(from, to *os.File, mode fs.FileMode) error {
	if c.owner {
		lost, _, err := fsys.KeepOwner(from, to)
		if err != nil {
			return err
		}
		c.lose(lost)
	}
	lost, err := fsys.CopyAttributes(from, to)
	for _, what := range lost {
		c.lose(what)
	}
	if err != nil {
		return err
	}
	return to.Chmod(mode)
}

// enter makes a directory that nobody else may enter before it is complete.
func (c *treeCopy) enter(d fsys.Dir, name string) error {
	info, err := d.Stat(".")
	if err != nil {
		return err
	}
	to, err := c.way.at()
	if err != nil {
		return err
	}
	as := c.name(name)
	if err := to.Mkdir(as, 0o700); err != nil {
		return err
	}
	made, err := to.Stat(as)
	if err != nil {
		return err
	}
	if made.Mode&0o700 != 0o700 { // because of the umask or an inherited list
		if err := to.Chmod(as, 0o700|made.Mode&fs.ModeSetgid); err != nil {
			return err
		}
	}
	if _, err := c.way.down(as); err != nil {
		return err
	}
	c.times = append(c.times, info.ModTime)
	return nil
}

// leave gives a directory the attributes of the original. The sticky bit comes from
// there, setgid from the directory above.
func (c *treeCopy) leave(d fsys.Dir) error {
	own, err := c.way.at()
	if err != nil {
		return err
	}
	if err := c.directory(d, own); err != nil {
		return err
	}
	last := len(c.times) - 1
	name, when := c.way.steps[last].name, c.times[last]
	c.times = c.times[:last]
	c.way.up()
	in, err := c.way.at()
	if err != nil {
		return err
	}
	return in.Chtimes(name, when)
}

func (c *treeCopy) directory(d, own fsys.Dir) error {
	from, err := d.Self()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := own.Self()
	if err != nil {
		return err
	}
	defer to.Close()
	want, err := from.Stat()
	if err != nil {
		return err
	}
	have, err := to.Stat()
	if err != nil {
		return err
	}
	const taken = fs.ModePerm | fs.ModeSticky
	return c.attributes(from, to, want.Mode()&taken|have.Mode()&fs.ModeSetgid)
}
