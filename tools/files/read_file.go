package files

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/picture"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed read_file.md
var readFileDoc string

// ReadFileIn says what to read of which file.
type ReadFileIn struct {
	Path        string `json:"path" jsonschema_description:"File to read." path:"file" alias:"file_path,filename,file,absolute_path,target_file,relative_path,path_to_file,uri"`
	Offset      int64  `json:"offset,omitempty" jsonschema_description:"First line to return, from 1; negative counts from the end (-50: the last 50 lines)." jsonschema:"minimum=-1000000000000,maximum=1000000000000,default=1"`
	Limit       int    `json:"limit,omitempty" jsonschema_description:"Most lines to return; a result has at most 50000 bytes." jsonschema:"minimum=1,maximum=10000,default=2000"`
	LineNumbers *bool  `json:"line_numbers,omitempty" jsonschema_description:"Number the lines." jsonschema:"default=true" alias:"-n,show_line_numbers,include_line_numbers,with_line_numbers"`
	ByteOffset  *int64 `json:"byte_offset,omitempty" jsonschema_description:"Return bytes from this one on, from 0; negative counts from the end." jsonschema:"minimum=-1000000000000000,maximum=1000000000000000"`
	ByteLimit   int    `json:"byte_limit,omitempty" jsonschema_description:"With byte_offset: most bytes to return." jsonschema:"minimum=1,maximum=50000,default=16384"`
	Encoding    string `json:"encoding,omitempty" jsonschema_description:"Instead of the detected one: gb18030, shift_jis, windows-1251, utf-16le ..."`
}

// ReadFileOut is a window of a file, or an image or sound.
type ReadFileOut struct{ view.Window }

func readFileTool(d Deps) tools.Tool {
	r := &view.Reader{Seen: d.Seen, Lines: d.Lines, Pictures: picture.NewConverter()}
	return tools.New(tools.Def[ReadFileIn, ReadFileOut]{
		Name: "read_file", Title: "Read a file", Doc: readFileDoc, Tags: []string{"files", "text", "lines", "head", "tail"},
		Aliases: []string{"file_read"}, Foreign: append(editorBy("view", nil), tools.Called("Read", "read", "read_text_file", "view_file")...),
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Spellings: readFileSpellings(),
		Limits: tools.Limits{Facts: map[string]any{
			"line": view.LineChars, "hashed": view.Hashed(), "side": picture.MaxSide, "notebook": textfile.Size(view.NotebookSize),
			"sound": textfile.Size(view.SoundSize), "pictures": view.NotebookPictures,
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
		Run: func(ctx context.Context, in ReadFileIn) (ReadFileOut, error) { return readFile(ctx, r, in) },
	})
}

func readFile(ctx context.Context, r *view.Reader, in ReadFileIn) (ReadFileOut, error) {
	path, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return ReadFileOut{}, err
	}
	src, err := r.Open(ctx, path, in.Encoding)
	if e, ok := errors.AsType[*workspace.Error](err); ok && e.Rule == workspace.RuleKind {
		return readDirectory(path, err)
	}
	if err != nil {
		return ReadFileOut{}, err
	}
	out, err := r.Show(ctx, src, view.Request{
		Offset: in.Offset, Limit: in.Limit, Numbers: in.LineNumbers == nil || *in.LineNumbers,
		ByteOffset: in.ByteOffset, ByteLimit: in.ByteLimit, Encoding: in.Encoding,
	})
	if err := errors.Join(err, src.Close()); err != nil {
		return ReadFileOut{}, err
	}
	return ReadFileOut{out}, nil
}

// listedEntries is the most entries shown of a directory that was given instead of a file.
const listedEntries = 50

// readDirectory answers for a path that is no file: it lists a directory, and returns why for
// anything else.
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
	return ReadFileOut{view.Window{
		Status: fmt.Sprintf("%s: a directory of %s, not a file%s; next: list_directory with sizes, depth, paging",
			name, textfile.Count(len(entries), "entry"), shown),
		Body: bytes.TrimSuffix(b, []byte{'\n'}),
	}}, nil
}

// mostRead is the most lines that a call may ask for, as the schema has it.
const mostRead = 10_000

// readFileSpellings are the forms in which other tools name the lines to read.
func readFileSpellings() []schema.Spelling {
	return []schema.Spelling{
		schema.One("path", "paths", "read_files takes several in paths, and globs", "paths", "files"),
		{Names: []string{"view_range", "line_range", "lines", "range"}, Read: lineRange},
		{Names: []string{"start_line", "end_line"}, Read: linesFromTo("start_line", "end_line")},
		{Names: []string{"start", "end"}, Read: linesFromTo("start", "end")},
		{Names: []string{"line_start", "line_end"}, Read: linesFromTo("line_start", "line_end")},
		{Names: []string{"start_line_one_indexed", "end_line_one_indexed_inclusive"}, Read: linesFromTo("start_line_one_indexed", "end_line_one_indexed_inclusive")},
		{Names: []string{"head", "length", "max_lines", "num_lines", "line_count", "lines_to_read", "count"}, Read: atMost},
		{Names: []string{"tail"}, Read: func(given map[string]any) (map[string]any, error) {
			if n, ok := schema.Int(given["tail"]); ok && n > 0 {
				return map[string]any{"offset": -n}, nil
			}
			return nil, nil
		}},
		schema.AtMost("limit", mostRead),
		schema.Flag(map[string]any{"limit": mostRead}, schema.Same(), "should_read_entire_file", "read_entire_file", "entire_file"),
		schema.OnlyWith("a file is read by lines; outline its blocks with grep", "mode", "slice", "text"),
		schema.OnlyWith("read_file reads; write_file, edit_file and restore_file do the rest", "command", "view"),
		schema.Refused("files are read here, no URLs", "is_url"),
	}
}

// lineRange reads the first and the last line in one argument: [3, 9], "3-9", "3:9".
func lineRange(given map[string]any) (map[string]any, error) {
	for _, v := range given {
		list, ok := v.([]any)
		if text, isText := v.(string); isText {
			first, last, found := strings.Cut(strings.Trim(text, " []"), "-")
			for _, sign := range []string{":", ","} {
				if !found {
					first, last, found = strings.Cut(first, sign)
				}
			}
			list, ok = []any{strings.TrimSpace(first), strings.TrimSpace(last)}, found
		}
		if !ok || len(list) != 2 {
			return nil, nil
		}
		return linesBetween(list[0], list[1])
	}
	return nil, nil
}

// linesFromTo reads the first and the last line in two arguments.
func linesFromTo(first, last string) func(map[string]any) (map[string]any, error) {
	return func(given map[string]any) (map[string]any, error) { return linesBetween(given[first], given[last]) }
}

// linesBetween returns the arguments for the lines from first to last. Either may be absent;
// -1 is the last line of the file.
func linesBetween(first, last any) (map[string]any, error) {
	from, ok := schema.Int(first)
	if first == nil {
		from, ok = 1, true
	}
	to, isNumber := schema.Int(last)
	if !ok || last != nil && !isNumber {
		return nil, nil
	}
	from = max(from, 1)
	switch {
	case last == nil:
		return map[string]any{"offset": from}, nil
	case to == -1:
		return map[string]any{"offset": from, "limit": mostRead}, nil
	case to < from:
		return nil, fmt.Errorf("the last line, %d, is before the first, %d", to, from)
	}
	return map[string]any{"offset": from, "limit": min(to-from+1, mostRead)}, nil
}

// atMost reads a limit of lines by another name; 0 and less mean no limit.
func atMost(given map[string]any) (map[string]any, error) {
	for _, v := range given {
		n, ok := schema.Int(v)
		if !ok {
			return nil, nil
		}
		if n <= 0 || n > mostRead {
			n = mostRead
		}
		return map[string]any{"limit": n}, nil
	}
	return nil, nil
}
