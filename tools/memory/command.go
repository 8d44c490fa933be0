package memory

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/memory/internal/notes"
)

// command returns the command "memory", by which the user moves memories and brings deleted
// ones back.
func command(l *library) tools.UserCommand {
	return tools.UserCommand{
		Name:  "memory",
		Args:  "export | import | restore [ID]",
		Short: "write all memories to a tar file, read them from one, or bring back a deleted one",
		Long: `
Memories are moved as Markdown files with front matter, in the folders workspace/ and
user/ of a tar file, so that they can be unpacked, edited and packed again. The root is
the current directory, or that of --root.

  toolcrib memory export >memories.tar      all memories of this root and of the user
  toolcrib memory import <memories.tar      adds those that are not there; a memory
                                            that is there otherwise gets a new version
  toolcrib memory restore                   lists the memories that were deleted
  toolcrib memory restore ID                brings one back`,
		Run: l.command,
	}
}

func (l *library) command(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	usage := func(msg string) error {
		return &tools.UsageError{Msg: msg, Hint: "toolcrib memory export >FILE; toolcrib memory import <FILE; toolcrib memory restore [ID]"}
	}
	switch {
	case len(args) == 1 && args[0] == "export":
		return l.export(ctx, out)
	case len(args) == 1 && args[0] == "import":
		return l.importAll(ctx, in, out)
	case len(args) == 1 && args[0] == "restore":
		return l.removed(ctx, out)
	case len(args) == 2 && args[0] == "restore":
		return l.restore(ctx, args[1], out)
	case len(args) == 0:
		return usage("memory wants to know what to do")
	}
	return usage(fmt.Sprintf("memory cannot %q", strings.Join(args, " ")))
}

func (l *library) export(ctx context.Context, out io.Writer) error {
	shelves, err := l.shelves(ctx, "")
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	for _, s := range shelves {
		set, err := s.Notes(ctx)
		if err != nil {
			return err
		}
		for _, n := range set.Notes {
			data, err := notes.Format(n)
			if err != nil {
				return err
			}
			head := &tar.Header{Name: path.Join(s.scope, n.ID+".md"), Mode: 0o600, Size: int64(len(data)), ModTime: n.Updated, Typeflag: tar.TypeReg}
			if err := w.WriteHeader(head); err != nil {
				return err
			}
			if _, err := w.Write(data); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

func (l *library) importAll(ctx context.Context, in io.Reader, out io.Writer) error {
	r := tar.NewReader(in)
	read := map[string][]*notes.Note{}
	refused := 0
	for {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read the tar file: %w", err)
		}
		name := path.Clean("/" + head.Name)
		if head.Typeflag != tar.TypeReg || path.Ext(name) != ".md" || strings.HasPrefix(path.Base(name), ".") {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(r, 2*maxContent))
		if err != nil {
			return fmt.Errorf("read the tar file: %s: %w", name, err)
		}
		n := notes.Parse(data)
		why := n.Flaw
		if len(n.Content) > maxContent {
			why = "it is too long"
		} else if secret := l.refuseSecrets(append([]string{n.Topic, n.Content}, n.Tags...)...); secret != nil {
			why = tools.AsError(secret).Msg
		}
		if why != "" {
			refused++
			fmt.Fprintf(out, "left out: %s: %s\n", tools.Visible(name[1:]), why)
			continue
		}
		scope := inWorkspace
		if slices.Contains(strings.Split(name, "/"), ofUser) {
			scope = ofUser
		}
		read[scope] = append(read[scope], n)
	}
	added, changed, same := 0, 0, 0
	for scope, list := range read {
		const together = 200 // others write in between, and a change is over before it is given up
		for some := range slices.Chunk(list, together) {
			a, c, err := l.merge(ctx, scope, some)
			if err != nil {
				return err
			}
			added, changed, same = added+a, changed+c, same+len(some)-a-c
		}
	}
	_, err := fmt.Fprintf(out, "%d added, %d got a new version, %d were there, %d left out\n", added, changed, same, refused)
	return err
}

// merge writes notes into a scope. Those with an ID or topic that is there are a new version
// of it, unless they say the same.
func (l *library) merge(ctx context.Context, scope string, list []*notes.Note) (added, changed int, err error) {
	s, err := l.shelf(ctx, scope)
	if err != nil {
		return 0, 0, err
	}
	err = s.Change(ctx, func(set *notes.Set) (notes.Batch, error) {
		var b notes.Batch
		added, changed = 0, 0
		now := time.Now().UTC().Truncate(time.Second)
		topics, ids := map[string]*notes.Note{}, map[string]bool{} // of all; of those that are written
		for _, n := range slices.Backward(set.Notes) {
			topics[name(n.Topic)] = n
		}
		for _, n := range list {
			next := *n
			if next.Topic == "" {
				next.Topic = notes.FirstLine(next.Content)
			}
			topic := name(next.Topic)
			old := set.Find(n.ID)
			if old == nil {
				old = topics[topic]
			}
			switch {
			case old == nil:
				added++
				if !notes.IsID(next.ID) || ids[next.ID] {
					next.ID = newID(set)
				}
				next.Version = max(next.Version, 1)
				if next.Updated.IsZero() {
					next.Updated = now
				}
				if next.Created.IsZero() {
					next.Created = next.Updated
				}
			case alike(&next, old):
				continue
			default:
				changed++
				next.ID, next.Created, next.Version, next.Updated = old.ID, old.Created, old.Version+1, now
			}
			ids[next.ID] = true
			if topics[topic] == nil {
				topics[topic] = &next
			}
			b.Write = append(b.Write, &next)
		}
		return b, room(set, added)
	})
	return added, changed, err
}

func (l *library) removed(ctx context.Context, out io.Writer) error {
	shelves, err := l.shelves(ctx, "")
	if err != nil {
		return err
	}
	for _, s := range shelves {
		list, err := s.Removed(ctx)
		if err != nil {
			return err
		}
		for _, n := range list {
			if _, err := fmt.Fprintln(out, found{n, s.scope}.head(time.Now())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *library) restore(ctx context.Context, id string, out io.Writer) error {
	shelves, err := l.shelves(ctx, "")
	if err != nil {
		return err
	}
	id = strings.ToLower(strings.Trim(id, "[] "))
	for _, s := range shelves {
		kept, err := s.Removed(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(kept, func(n *notes.Note) bool { return n.ID == id })
		if i < 0 {
			continue
		}
		next := *kept[i]
		err = s.Change(ctx, func(set *notes.Set) (notes.Batch, error) {
			if set.Find(id) != nil {
				return notes.Batch{}, nil // another was quicker
			}
			if other := named(set, next.Topic); other != nil {
				return notes.Batch{}, tools.Errorf(tools.Conflict, "its topic %s has a memory again, %s", tools.Visible(next.Topic), other.ID).WithHint("delete that first")
			}
			if err := room(set, 1); err != nil {
				return notes.Batch{}, err
			}
			next.Version, next.Updated = kept[i].Version+1, time.Now().UTC().Truncate(time.Second)
			next.Expires = time.Time{} // it would go at once
			return notes.Batch{Write: []*notes.Note{&next}}, nil
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, "restored:", found{&next, s.scope}.head(time.Now()))
		return err
	}
	return fmt.Errorf("no deleted memory has the ID %q; toolcrib memory restore lists them", id)
}
