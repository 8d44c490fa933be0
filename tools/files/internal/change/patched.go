package change

import (
	"fmt"
	"strings"

	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/diff"
	"toolcrib/tools/internal/text/patch"
	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// ReportPatch returns the result of a patch.
func ReportPatch(all []*Patching, r workspace.Receipt, notes []string, dryRun bool) Report {
	out := Report{Notes: notes}
	added, removed, room, left := 0, 0, EditDiff, 0
	for i, p := range all {
		before, after := p.texts()
		come, gone := diff.Stat(before, after)
		added, removed = added+come, removed+gone
		out.Files = append(out.Files, p.line(r.Done[i], come, gone, dryRun))
		for _, result := range p.results {
			out.note(p.Path, result.Notes)
		}
		out.note(p.Path, r.Done[i].Notes)
		if !dryRun || before == after {
			continue
		}
		if room < 200 {
			left++
			continue
		}
		text := diff.Unified(before, after, diff.Options{From: p.side(patch.Add, p.Path), To: p.side(patch.Delete, textfile.Path(p.Op.Path.String())), MaxBytes: room})
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		room -= len(text)
		out.Diff += text
	}
	if left > 0 {
		out.Diff += fmt.Sprintf("… the diffs of %s more are left out\n", textfile.Count(left, "file"))
	}
	files := textfile.Count(len(all), "file")
	if dryRun {
		out.Status = fmt.Sprintf("not patched (dry run), %s: +%d -%d", files, added, removed)
	} else {
		out.Status = fmt.Sprintf("patched %s: +%d -%d%s", files, added, removed, Aftermath(r, nil, false))
	}
	return out
}

// note adds the notes of one file.
func (o *Report) note(path string, notes []string) {
	for _, n := range notes {
		o.Notes = append(o.Notes, path+": "+n)
	}
}

// side returns the name of one side of a diff; lacks is the kind of change without that side.
func (p *Patching) side(lacks patch.Kind, name string) string {
	if p.kind == lacks {
		return "/dev/null"
	}
	return name
}

// texts returns the contents before and after, as a diff takes them, where both are
// known and text.
func (p *Patching) texts() (before, after string) {
	if !p.whole {
		return "", ""
	}
	if p.Old.Exists && p.kind != patch.Add {
		before, _ = Shown(p.Old.Data, p.form)
	}
	switch p.kind {
	case patch.Add:
		after, _ = Shown(p.after, textfile.Sniff(p.after, true))
	case patch.Delete:
	default:
		after, _ = Shown(p.after, p.form)
	}
	return before, after
}

// line returns what happened to the file, in one line.
func (p *Patching) line(done workspace.Done, come, gone int, dryRun bool) string {
	var parts []string
	letter := "M"
	switch {
	case p.kind == patch.Add:
		letter, parts = "A", []string{textfile.Count(come, "line")}
	case p.kind == patch.Delete:
		letter = "D"
		if p.whole && !p.form.Binary {
			parts = []string{textfile.Count(gone, "line")}
		} else if done.Before != nil {
			parts = []string{textfile.Size(done.Before.Size)}
		}
	case p.kind == patch.Copy:
		letter = "C"
	case p.steps[0].To != "":
		letter = "R"
	}
	if at := p.places(); at != "" {
		parts = append(parts, at)
	}
	if m := p.Op.Mode; m != 0 && p.kind == patch.Update {
		parts = append(parts, fmt.Sprintf("mode %04o", m))
	}
	if p.results != nil && string(p.after) == string(p.Old.Data) && p.Op.Mode == 0 && p.steps[0].To == "" {
		parts = append(parts, "unchanged")
	}
	if after := done.After; after != nil && after.Hash != "" && p.Op.Kind == workspace.OpWrite {
		would := ""
		if dryRun {
			would = "would be "
		}
		parts = append(parts, "hash "+would+view.ShortHash(after.Hash))
	}
	if len(parts) == 0 {
		return letter + " " + p.name
	}
	return letter + " " + p.name + ": " + strings.Join(parts, "; ")
}

// places returns the lines on which the hunks begin in the new file, and their distance from
// the lines in the patch.
func (p *Patching) places() string {
	const most = 50
	var at []string
	for i, result := range p.results {
		for j, start := range result.Starts {
			line := moved(start, result.Hunks)
			for _, later := range p.results[i+1:] {
				line = moved(line, later.Hunks)
			}
			text := fmt.Sprint(line)
			if want := p.steps[i].Chunks[j].Line; want > 0 && want != start {
				text += fmt.Sprintf(" (%+d from patch)", start-want)
			}
			at = append(at, text)
		}
	}
	switch n := len(at); {
	case n == 0:
		return ""
	case n == 1:
		return "hunk at line " + at[0]
	case n > most:
		return fmt.Sprintf("hunks at lines %s and %d more", strings.Join(at[:most], ", "), n-most)
	}
	return "hunks at lines " + strings.Join(at, ", ")
}

// moved returns the number of a line after the hunks before it were applied.
func moved(line int, hunks []textedit.Hunk) int {
	to := line
	for _, h := range hunks {
		if h.OldLine < line && h.OldLine+h.OldLines <= line {
			to += h.NewLines - h.OldLines
		}
	}
	return to
}
