package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/text/pathglob"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/unread"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

//go:embed read_files.md
var readFilesDoc string

// mostFiles is the most files of one result.
const mostFiles = 50

// ReadFilesIn says which files to read.
type ReadFilesIn struct {
	Paths       []string `json:"paths" jsonschema_description:"Files to read, or globs such as src/**/*.go." jsonschema:"minItems=1,maxItems=50" path:"any" alias:"path,files,file_paths,patterns,file_path,filenames,globs,include,target_files"`
	Offset      int      `json:"offset,omitempty" jsonschema_description:"Files to skip, as the last result says." jsonschema:"minimum=0,maximum=10000000,default=0"`
	LineNumbers *bool    `json:"line_numbers,omitempty" jsonschema_description:"Number the lines." jsonschema:"default=true" alias:"-n,show_line_numbers,include_line_numbers"`
}

// ReadFilesOut has several files, each as far as there is room for it.
type ReadFilesOut struct {
	// Status counts the files and names the call for the next ones.
	Status string
	Files  []view.Window
	tools.More
}

// Text returns the status and the files, separated by blank lines.
func (o ReadFilesOut) Text() string {
	var b strings.Builder
	b.WriteString(o.Status)
	for i, f := range o.Files {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
		b.WriteString(f.Text())
	}
	return b.String()
}

func readFilesTool(d Deps) tools.Tool {
	r := &view.Reader{Seen: d.Seen, Lines: d.Lines}
	return tools.New(tools.Def[ReadFilesIn, ReadFilesOut]{
		Name: "read_files", Title: "Read several files", Doc: readFilesDoc, Tags: []string{"files", "text", "several files"},
		Foreign: append(tools.Called("read_many_files", "read_multiple_files"), tools.Foreign{Name: "read_file", By: "paths", Several: true}),
		Access:  tools.Read, Effects: tools.None, Repeatable: true,
		Limits: tools.Limits{Facts: map[string]any{"most": mostFiles}},
		Examples: []tools.Example[ReadFilesIn]{{
			Say:   "Read a file and all tests",
			Files: map[string]string{"add.go": "package sum\n", "add_test.go": "package sum\n", "sub/neg_test.go": "package sub\n"},
			In:    ReadFilesIn{Paths: []string{"add.go", "**/*_test.go"}},
			Want: "3 files\n" +
				"add.go: line 1 of 1; utf-8, LF, 12 B, hash …\n1\tpackage sum\n\n" +
				"add_test.go: line 1 of 1; utf-8, LF, 12 B, hash …\n1\tpackage sum\n\n" +
				"sub/neg_test.go: line 1 of 1; utf-8, LF, 12 B, hash …\n1\tpackage sub",
		}, {
			Say:   "One that is not there does not fail the rest",
			Files: map[string]string{"a.txt": "A\n"},
			In:    ReadFilesIn{Paths: []string{"a.txt", "b.txt"}},
			Want:  "2 files, 1 not read\na.txt: line 1 of 1; utf-8, LF, 2 B, hash …\n1\tA\n\nb.txt: not_found: …",
		}},
		Run: func(ctx context.Context, in ReadFilesIn) (ReadFilesOut, error) { return readFiles(ctx, r, in) },
	})
}

func readFiles(ctx context.Context, r *view.Reader, in ReadFilesIn) (ReadFilesOut, error) {
	list, read, notes, err := expand(ctx, in.Paths)
	if err != nil {
		return ReadFilesOut{}, err
	}
	if total := len(list); total > 0 && in.Offset >= total {
		return ReadFilesOut{Status: paging.PastEnd("offset", int64(in.Offset), textfile.Count(total, "file"), int64(total-1))}, nil
	}
	s := shares{Reader: r, numbers: in.LineNumbers == nil || *in.LineNumbers}
	room := tools.MaxText - view.StatusRoom - len(notes) - len(read)
	for _, f := range list[min(in.Offset, len(list)):min(in.Offset+mostFiles, len(list))] {
		if err := ctx.Err(); err != nil {
			return ReadFilesOut{}, err
		}
		part, err := s.read(ctx, f, tools.MaxText-len(f.name)-view.StatusRoom)
		if err != nil {
			return ReadFilesOut{}, err
		}
		if room -= part.least(); room < 0 && len(s.parts) > 0 {
			break
		}
		s.parts = append(s.parts, part)
	}
	if err := s.cut(ctx, tools.MaxText-view.StatusRoom-len(notes)-len(read)); err != nil {
		return ReadFilesOut{}, err
	}
	out := s.result(in.Offset, len(list), notes)
	out.Status = read + out.Status
	return out, nil
}

// wanted is a file to read, or the error of its entry.
type wanted struct {
	name string // as printed
	path workspace.Path
	err  error
}

// shares divides the room of a result among its files.
type shares struct {
	*view.Reader
	numbers bool
	parts   []share
}

// share is a file with as much of its text as one result could hold.
type share struct {
	wanted
	out view.Window
}

// leastBody is the least room, in bytes, that a file gets in a result.
const leastBody = 400

func (p share) size() int  { return p.out.Size() + len("\n\n") }
func (p share) least() int { return min(p.size(), len(p.out.Status)+leastBody) }

// read reads a file with room for its body. It fails only if the context ends.
func (s *shares) read(ctx context.Context, f wanted, room int) (share, error) {
	p := share{wanted: f}
	err := f.err
	if err == nil {
		p.out, err = s.readOne(ctx, f.path, room)
	}
	if ctx.Err() != nil {
		return share{}, ctx.Err()
	}
	if err != nil {
		p.err = err
		p.out = view.Window{Status: f.name + ": " + textfile.Cut(tools.AsError(err).Error(), 0, 0, 1000)}
	}
	return p, nil
}

func (s *shares) readOne(ctx context.Context, path workspace.Path, room int) (view.Window, error) {
	src, err := s.Open(ctx, path, "")
	if e, ok := errors.AsType[*workspace.Error](err); ok && e.Rule == workspace.RuleKind {
		return view.Window{}, tools.AsError(err).WithHint("list_directory lists it")
	}
	if err != nil {
		return view.Window{}, err
	}
	src.Room, src.Call = room, "read_file "
	out, err := s.Show(ctx, src, view.Request{Offset: 1, Limit: 10_000, Numbers: s.numbers})
	if err := errors.Join(err, src.Close()); err != nil {
		return view.Window{}, err
	}
	return out, nil
}

// nextRoom is how many bytes a status line may grow by when its file is cut.
const nextRoom = 100

// cut reads the larger files again, with less room, until all together have at most the given
// bytes: small files stay whole, the others share the rest equally.
func (s *shares) cut(ctx context.Context, room int) error {
	sizes := make([]int, len(s.parts))
	for i, p := range s.parts {
		sizes[i] = p.size()
	}
	level := fairLevel(sizes, room)
	for i, p := range s.parts {
		if p.size() <= level {
			continue
		}
		part, err := s.read(ctx, p.wanted, max(level-len(p.out.Status)-nextRoom, 0))
		if err != nil {
			return err
		}
		s.parts[i] = part
	}
	return nil
}

// fairLevel returns the size to which the larger files must be cut so that all have room.
func fairLevel(sizes []int, room int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, size := range sizes {
		if each := room / (len(sizes) - i); size > each {
			return each
		}
		room -= size
	}
	if len(sizes) == 0 {
		return 0
	}
	return sizes[len(sizes)-1]
}

// result returns the files that were read.
func (s *shares) result(offset, total int, notes string) ReadFilesOut {
	var out ReadFilesOut
	failed := 0
	for _, p := range s.parts {
		out.Files = append(out.Files, p.out)
		if p.err != nil {
			failed++
		}
	}
	b := fmt.Appendf(nil, "%s", textfile.Count(total, "file"))
	end := offset + len(s.parts)
	if len(s.parts) < total {
		b = fmt.Appendf(b, "; files %d-%d", offset+1, end)
	}
	if failed > 0 {
		b = fmt.Appendf(b, ", %d not read", failed)
	}
	if end < total {
		b = fmt.Appendf(b, "; next: offset=%d", end)
		out.More = tools.NextAt("offset", end)
	}
	if notes != "" {
		b = append(b, "\n"+strings.TrimSuffix(notes, "\n")...)
	}
	out.Status = string(b)
	return out
}

// expand returns the files that paths and globs name, each once, in their order. An entry that
// fails is in the list with its error. notes name directories that could not be read and count
// denied paths. read names the entries that were read otherwise than written.
func expand(ctx context.Context, entries []string) (list []wanted, read, notes string, err error) {
	var closed []paging.Unread
	denied := 0
	known := map[string]bool{}
	add := func(f wanted) {
		if !known[f.name] {
			known[f.name] = true
			list = append(list, f)
		}
	}
	for _, text := range entries {
		found, stats, err := named(ctx, text)
		if err != nil {
			for _, r := range pathglob.Readings([]string{text}) {
				if other, ok := allNamed(ctx, r.Patterns); ok {
					found, err, read = other, nil, read+r.Note([]string{text})
					break
				}
			}
		}
		if ctx.Err() != nil {
			return nil, "", "", ctx.Err()
		}
		if err != nil {
			add(wanted{name: textfile.Path(text), err: err})
		}
		for _, f := range found {
			add(f)
		}
		closed = unread.Paths(ctx, closed, stats)
		denied += stats.Denied
	}
	return list, read, paging.NotRead(closed) + paging.Denied(denied), nil
}

// named returns the file of a path, or the files that a glob matches.
func named(ctx context.Context, text string) ([]wanted, fileindex.WalkStats, error) {
	path, err := tools.Resolve(ctx, text)
	if err == nil {
		_, err = path.Lstat()
	}
	if err != nil && isGlob(text) {
		return matching(ctx, text)
	}
	if err != nil {
		return nil, fileindex.WalkStats{}, err
	}
	return []wanted{{name: textfile.Path(path.String()), path: path}}, fileindex.WalkStats{}, nil
}

// allNamed returns the files of several entries. ok reports whether all of them exist and none
// is a directory.
func allNamed(ctx context.Context, entries []string) (found []wanted, ok bool) {
	for _, text := range entries {
		list, _, err := named(ctx, text)
		if err != nil || strings.HasSuffix(text, "/") {
			return nil, false
		}
		found = append(found, list...)
	}
	return found, true
}

func isGlob(text string) bool { return strings.ContainsAny(text, "*?[{") }

// matching returns the files that a glob matches, below the first root, or below
// the root that it begins with.
func matching(ctx context.Context, pattern string) ([]wanted, fileindex.WalkStats, error) {
	root, rel := ".", pattern
	for _, name := range tools.Session(ctx).Workspace.Roots() {
		below, ok := strings.CutPrefix(pattern, filepath.ToSlash(name)+"/")
		if ok && len(below) < len(rel) {
			root, rel = name, below
		}
	}
	f, err := newFilter(rel)
	if err != nil {
		return nil, fileindex.WalkStats{}, err
	}
	start, err := tools.Resolve(ctx, root)
	if err != nil {
		return nil, fileindex.WalkStats{}, err
	}
	entries, stats, err := fileindex.Walk(ctx, start, fileindex.WalkOptions{Hidden: f.include.Hidden(), SkipDir: f.skips})
	if err != nil {
		return nil, stats, err
	}
	var found []wanted
	for _, e := range entries {
		if e.Kind == workspace.KindFile && !f.excludes(e) && f.wants(e) {
			found = append(found, wanted{name: textfile.Path(e.Path.String()), path: e.Path})
		}
	}
	if found == nil {
		left := paging.LeftOut(paging.Left{N: stats.Hidden, Why: "hidden"}, paging.Left{N: stats.Ignored, Why: "ignored"})
		return nil, stats, tools.Errorf(tools.NotFound, "no file matches%s", left).
			WithHint("glob finds files; a pattern without a slash matches at any depth")
	}
	return found, stats, nil
}
