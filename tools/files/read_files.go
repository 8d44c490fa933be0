package files

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed read_files.md
var readFilesDoc string

// mostFiles is the most files of one result.
const mostFiles = 50

// ReadFilesIn says which files to read.
type ReadFilesIn struct {
	Paths       []string `json:"paths" jsonschema_description:"Files to read, or globs such as src/**/*.go." jsonschema:"minItems=1,maxItems=50" path:"any" alias:"path,files,file_paths,patterns,file_path,filenames,globs,include,target_files"`
	Offset      int      `json:"offset,omitempty" jsonschema_description:"How many files to skip, 0 for the first page; the last result names the next." jsonschema:"minimum=0,maximum=10000000,default=0"`
	LineNumbers *bool    `json:"line_numbers,omitempty" jsonschema_description:"Write each line as its number, a tab, its text." jsonschema:"default=true" alias:"-n,show_line_numbers,include_line_numbers"`
}

// ReadFilesOut is several files, each as far as it has room.
type ReadFilesOut struct {
	// Status counts the files and says which call returns those that follow.
	Status string
	Files  []ReadFileOut
	tools.More
}

// Text words the result: the files are parted by blank lines.
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
	r := &reader{Deps: d}
	return tools.New(tools.Def[ReadFilesIn, ReadFilesOut]{
		Name: "read_files", Title: "Read several files", Doc: readFilesDoc, Tags: []string{"files", "text"},
		Access: tools.Read, Effects: tools.None, Repeatable: true,
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
		Run: r.readFiles,
	})
}

func (r *reader) readFiles(ctx context.Context, in ReadFilesIn) (ReadFilesOut, error) {
	list, read, notes, err := expand(ctx, in.Paths)
	if err != nil {
		return ReadFilesOut{}, err
	}
	if total := len(list); total > 0 && in.Offset >= total {
		return ReadFilesOut{Status: paging.PastEnd("offset", int64(in.Offset), textfile.Count(total, "file"), int64(total-1))}, nil
	}
	s := shares{reader: r, numbers: in.LineNumbers == nil || *in.LineNumbers}
	room := tools.MaxText - statusRoom - len(notes) - len(read)
	for _, f := range list[min(in.Offset, len(list)):min(in.Offset+mostFiles, len(list))] {
		if err := ctx.Err(); err != nil {
			return ReadFilesOut{}, err
		}
		part, err := s.read(ctx, f, tools.MaxText-len(f.name)-statusRoom)
		if err != nil {
			return ReadFilesOut{}, err
		}
		if room -= part.least(); room < 0 && len(s.parts) > 0 {
			break
		}
		s.parts = append(s.parts, part)
	}
	if err := s.cut(ctx, tools.MaxText-statusRoom-len(notes)-len(read)); err != nil {
		return ReadFilesOut{}, err
	}
	out := s.result(in.Offset, len(list), notes)
	out.Status = read + out.Status
	return out, nil
}

// wanted is a file to be read, or why there is none.
type wanted struct {
	name string // as printed
	path workspace.Path
	err  error
}

// shares is the files of a result and what each has of it.
type shares struct {
	*reader
	numbers bool
	parts   []share
}

// share is a file with as much of it as one result could hold.
type share struct {
	wanted
	out ReadFileOut
}

// leastBody is what of a file is worth a place in the result.
const leastBody = 400

func (p share) size() int  { return p.out.size() + len("\n\n") }
func (p share) least() int { return min(p.size(), len(p.out.Status)+leastBody) }

// read reads a file with room for its body. An error is that of the context.
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
		p.out = ReadFileOut{Status: f.name + ": " + textfile.Cut(tools.AsError(err).Error(), 0, 0, 1000)}
	}
	return p, nil
}

func (s *shares) readOne(ctx context.Context, path workspace.Path, room int) (ReadFileOut, error) {
	src, err := s.open(ctx, path, "")
	if e, ok := errors.AsType[*workspace.Error](err); ok && e.Rule == workspace.RuleKind {
		return ReadFileOut{}, tools.AsError(err).WithHint("list_directory lists it")
	}
	if err != nil {
		return ReadFileOut{}, err
	}
	src.room, src.call = room, "read_file "
	out, err := s.window(ctx, src, ReadFileIn{Offset: 1, Limit: 10_000, LineNumbers: &s.numbers})
	if err := errors.Join(err, src.Close()); err != nil {
		return ReadFileOut{}, err
	}
	return out, nil
}
