package files

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed read_file.md
var readFileDoc string

// ReadFileIn says what to read of which file.
type ReadFileIn struct {
	Path        string `json:"path" jsonschema_description:"File to read." path:"file" alias:"file_path,filename,file,absolute_path,target_file,relative_path,path_to_file,uri"`
	Offset      int64  `json:"offset,omitempty" jsonschema_description:"Line number of the first line to return, counted from 1; negative counts from the end (-50: the last 50 lines)." jsonschema:"minimum=-1000000000000,maximum=1000000000000,default=1"`
	Limit       int    `json:"limit,omitempty" jsonschema_description:"Most lines to return; a result has at most 50000 bytes." jsonschema:"minimum=1,maximum=10000,default=2000"`
	LineNumbers *bool  `json:"line_numbers,omitempty" jsonschema_description:"Write each line as its number, a tab, its text." jsonschema:"default=true" alias:"-n,show_line_numbers,include_line_numbers,with_line_numbers"`
	ByteOffset  *int64 `json:"byte_offset,omitempty" jsonschema_description:"Return bytes instead of lines, from this one on, counted from 0; negative counts from the end. Binary files come as a hex dump." jsonschema:"minimum=-1000000000000000,maximum=1000000000000000"`
	ByteLimit   int    `json:"byte_limit,omitempty" jsonschema_description:"With byte_offset: most bytes to return." jsonschema:"minimum=1,maximum=50000,default=16384"`
	Encoding    string `json:"encoding,omitempty" jsonschema_description:"Decode as this (gb18030, shift_jis, windows-1251, utf-16le ...) instead of what is detected."`
}

// ReadFileOut is a window of a file, or an image or sound.
type ReadFileOut struct {
	// Status says in one line what the window is, what is known of the file and
	// which call returns what follows.
	Status string
	// Body is the lines or the hex dump, without a last newline, or the decoded
	// bytes just as they are; "" where there is nothing to show.
	Body []byte
	// Media is the images and sounds, which the Status and Body name in their order.
	Media []tools.Block
	tools.More
}

// Content is the text and what there is to see and hear.
func (o ReadFileOut) Content() []tools.Block {
	return append([]tools.Block{tools.Text(o.Text())}, o.Media...)
}

// Text words the result.
func (o ReadFileOut) Text() string {
	if len(o.Body) == 0 {
		return o.Status
	}
	var b strings.Builder
	b.Grow(o.size())
	b.WriteString(o.Status)
	b.WriteByte('\n')
	b.Write(o.Body)
	return b.String()
}

// size is the length of the text, or one more.
func (o ReadFileOut) size() int { return len(o.Status) + 1 + len(o.Body) }

func readFileTool(d Deps) tools.Tool {
	r := newReader(d)
	return tools.New(tools.Def[ReadFileIn, ReadFileOut]{
		Name: "read_file", Title: "Read a file", Doc: readFileDoc, Tags: []string{"files", "text"},
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Spellings: readFileSpellings(),
		Limits: tools.Limits{Facts: map[string]any{
			"line": lineChars, "hashed": hashed(), "side": maxSide, "notebook": textfile.Size(notebookSize),
			"sound": textfile.Size(soundSize), "pictures": notebookPictures,
		}},
		Examples: []tools.Example[ReadFileIn]{{
			Say:   "Read the first two lines",
			Files: map[string]string{"greet.go": "package greet\n\nconst Hello = \"hello\"\n"},
			In:    ReadFileIn{Path: "greet.go", Limit: 2},
			Want:  "greet.go: lines 1-2 of 3; utf-8, LF, 37 B, hash …; next: offset=3\n1\tpackage greet\n2\t",
		}, {
			Say:   "Read the end of a log",
			Files: map[string]string{"app.log": "start\nwork\nstop\n"},
			In:    ReadFileIn{Path: "app.log", Offset: -1},
			Want:  "app.log: line 3 of 3; utf-8, LF, 16 B, hash …\n3\tstop",
		}},
		Run: r.readFile,
	})
}

// reader reads files for the tools that show them.
type reader struct {
	Deps
	pictures *pictures // nil = images and sounds are named only
}

func newReader(d Deps) *reader { return &reader{Deps: d, pictures: newPictures()} }

func (r *reader) readFile(ctx context.Context, in ReadFileIn) (ReadFileOut, error) {
	path, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return ReadFileOut{}, err
	}
	src, err := r.open(ctx, path, in.Encoding)
	if e, ok := errors.AsType[*workspace.Error](err); ok && e.Rule == workspace.RuleKind {
		return readDirectory(path, err)
	}
	if err != nil {
		return ReadFileOut{}, err
	}
	out, err := r.window(ctx, src, in)
	if err := errors.Join(err, src.Close()); err != nil {
		return ReadFileOut{}, err
	}
	return out, nil
}

// open opens a file and notes that the caller has seen this version of it.
func (r *reader) open(ctx context.Context, path workspace.Path, encoding string) (*source, error) {
	principal := tools.Session(ctx).Principal
	hash, former, _ := r.Seen.Last(principal, path.String())
	src, err := reopenSource(ctx, path, encoding, hash, former)
	if err != nil {
		return nil, err
	}
	if !src.whole {
		src.index = r.Lines.of(path, src.file.Info(), src.form)
	}
	_, version, _ := strings.Cut(src.id, " ")
	content := src.data
	if src.form.Binary { // what nobody edits as text
		content = nil
	}
	r.Seen.Note(principal, path.String(), version, content)
	return src, nil
}

func (r *reader) window(ctx context.Context, s *source, in ReadFileIn) (ReadFileOut, error) {
	switch {
	case s.size == 0:
		return ReadFileOut{Status: fmt.Sprintf("%s: empty file; %s", s.path, s.id)}, nil
	case in.ByteOffset != nil:
		return s.byteWindow(*in.ByteOffset, in.ByteLimit)
	case s.form.Undecodable != "":
		return ReadFileOut{}, undecodable(s.path, s.form.Undecodable)
	case s.form.Binary:
		return r.media(ctx, s)
	}
	if in.Encoding == "" {
		if book, ok := s.notebook(); ok {
			return r.bookWindow(ctx, s, book, in)
		}
	}
	numbers := in.LineNumbers == nil || *in.LineNumbers
	return s.lineWindow(ctx, in.Offset, in.Limit, numbers)
}

// listedEntries is how many entries of a directory are shown where a file was
// expected.
const listedEntries = 50

// readDirectory answers for a path that is no file: a directory is listed, for
// anything else the answer is why.
func readDirectory(path workspace.Path, why error) (ReadFileOut, error) {
	entries, err := path.ReadDir()
	if err != nil {
		return ReadFileOut{}, why
	}
	name := textfile.Path(path.String())
	var b []byte
	for _, e := range entries[:min(len(entries), listedEntries)] {
		entry := e.Name
		if e.Kind == workspace.KindDirectory {
			entry += "/"
		}
		b = append(append(b, textfile.Path(entry)...), '\n')
	}
	shown := ""
	if len(entries) > listedEntries {
		shown = fmt.Sprintf(", the first %d follow", listedEntries)
	}
	return ReadFileOut{
		Status: fmt.Sprintf("%s: a directory of %s, not a file%s; next: list_directory with sizes, depth, paging",
			name, textfile.Count(len(entries), "entry"), shown),
		Body: bytes.TrimSuffix(b, []byte{'\n'}),
	}, nil
}
