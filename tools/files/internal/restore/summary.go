package restore

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"

	"toolcrib/tools/files/internal/change"
)

// Summary describes a change of a list in one line or a few.
func (b *Historian) Summary(rec workspace.Record, below workspace.Path) string {
	all := b.Concerning(rec, below)
	parts := ends(all)
	head := b.Head(rec)
	switch {
	case len(parts) == 1:
		return head + " " + b.Part(parts[0]) + "\n"
	case wholeTree(all):
		return head + " " + b.tree(all) + "\n"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s\n", head, textfile.Count(len(parts), "file"))
	for _, p := range parts[:min(len(parts), listedParts)] {
		fmt.Fprintf(&text, "  %s\n", b.Part(p))
	}
	if more := len(parts) - listedParts; more > 0 {
		fmt.Fprintf(&text, "  … %d more: version=%s\n", more, rec.ID)
	}
	return text.String()
}

// Runs sorts the records that belong to runs of agents by the run, in their order.
func Runs(records []workspace.Record) map[string][]workspace.Record {
	runs := map[string][]workspace.Record{}
	for _, rec := range records {
		if rec.Group != "" {
			runs[rec.Group] = append(runs[rec.Group], rec)
		}
	}
	return runs
}

// Run describes what an agent's run changed as one change, in a few lines. Its records are the
// newest first.
func (b *Historian) Run(run []workspace.Record, below workspace.Path) string {
	newest := map[string]Part{}
	var names []string
	for _, rec := range run {
		for _, p := range ends(b.Concerning(rec, below)) {
			name := p.path.String()
			if _, seen := newest[name]; !seen {
				names = append(names, name)
				newest[name] = p
			}
		}
	}
	one := run[0]
	one.ID, one.Tool = one.Group, "agent: "+textfile.Count(len(run), "change")
	var text strings.Builder
	fmt.Fprintf(&text, "%s of %s\n", b.Head(one), textfile.Count(len(names), "file"))
	for _, name := range names[:min(len(names), listedParts)] {
		fmt.Fprintf(&text, "  %s\n", b.Part(newest[name]))
	}
	if more := len(names) - listedParts; more > 0 {
		fmt.Fprintf(&text, "  … %d more: version=%s\n", more, one.ID)
	}
	return text.String()
}

// Concerning is parts, with those that were moved away from below a path too.
func (b *Historian) Concerning(rec workspace.Record, below workspace.Path) []Part {
	all := b.parts(rec, workspace.Path{})
	return slices.DeleteFunc(all, func(p Part) bool {
		return !p.concerns(below, true)
	})
}

// ends leaves out the directories that a change made above its other parts.
func ends(parts []Part) []Part {
	above := map[string]bool{}
	for _, p := range parts {
		for dir := path.Dir(p.path.String()); !above[dir]; dir = path.Dir(dir) {
			above[dir] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(parts), func(p Part) bool {
		return p.Kind == workspace.OpDirectory && above[p.path.String()]
	})
}

// wholeTree reports that a change is one tree that came or went.
func wholeTree(parts []Part) bool {
	if len(parts) == 0 {
		return false
	}
	top := parts[0]
	if v := present(top.Changed); v == nil || v.Kind != workspace.KindDirectory || top.Before != nil && top.After != nil {
		return false
	}
	for _, p := range parts[1:] {
		if p.From != "" || !within(p.path, top.path) || (p.Before == nil) != (top.Before == nil) || (p.After == nil) != (top.After == nil) {
			return false
		}
	}
	return true
}

// present returns the version of a path after a change, or the one before if the path is gone.
func present(c workspace.Changed) *workspace.Version {
	if c.After != nil {
		return c.After
	}
	return c.Before
}

func (b *Historian) tree(parts []Part) string {
	files, bytes := 0, int64(0)
	for _, p := range parts {
		if v := present(p.Changed); v.Kind != workspace.KindDirectory {
			files++
			bytes += v.Size
		}
	}
	return fmt.Sprintf("%s %s, %s, %s", textfile.Path(parts[0].path.String()), b.what(parts[0]), textfile.Count(files, "file"), textfile.Size(bytes))
}

// Part describes what happened to one path.
func (b *Historian) Part(p Part) string {
	text := textfile.Path(p.path.String()) + " " + b.what(p)
	if p.from != (workspace.Path{}) {
		text = textfile.Path(p.from.String()) + " -> " + text
	}
	if v := present(p.Changed); v != nil && v.Kind == workspace.KindFile {
		text += ", " + textfile.Size(v.Size)
	}
	return text
}

func (b *Historian) what(p Part) string {
	switch {
	case p.came():
		return "moved" + p.over()
	case p.Kind == workspace.OpMove:
		return "moved from outside the workspace of this call" + p.over()
	case p.Kind == workspace.OpCopy:
		return "copied" + p.over()
	case p.After == nil:
		return "deleted"
	case p.Before == nil && p.After.Kind == workspace.KindDirectory:
		return "made"
	case p.Before == nil:
		return "new"
	case p.Before.Kind != p.After.Kind:
		return change.KindName(p.Before.Kind) + " became " + change.KindName(p.After.Kind)
	case p.Before.Hash == p.After.Hash && p.Before.Mode != p.After.Mode:
		return fmt.Sprintf("mode %04o -> %04o", p.Before.Mode.Perm(), p.After.Mode.Perm())
	}
	before, ok := b.text(p.Before, p.path)
	after, ok2 := b.text(p.After, p.path)
	if !ok || !ok2 {
		return "changed"
	}
	return change.PlusMinus(before, after)
}

// over describes the target that a move or copy replaced.
func (p Part) over() string {
	if p.Before == nil {
		return ""
	}
	return ", replacing " + change.KindName(p.Before.Kind)
}
