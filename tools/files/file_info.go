package files

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed file_info.md
var fileInfoDoc string

// FileInfoIn names the paths to describe.
type FileInfoIn struct {
	Paths []string `json:"paths" jsonschema_description:"Paths to describe; they need not exist." jsonschema:"minItems=1,maxItems=100" path:"any" alias:"path,file_path,files,file,file_paths,filename,absolute_path,target_file"`
}

// FileInfoOut describes each path, in the order asked for.
type FileInfoOut struct {
	Files []FileInfo `json:"files" jsonschema_description:"One entry for each path, in their order."`
}

// FileInfo describes one path. Fields that do not apply are empty.
type FileInfo struct {
	Path    string `json:"path" jsonschema_description:"The path, as it can be given back."`
	Exists  bool   `json:"exists" jsonschema_description:"Whether there is something at the path; a symlink exists though its target may not."`
	Error   string `json:"error,omitempty" jsonschema_description:"Why nothing more is known."`
	Nearest string `json:"nearest,omitempty" jsonschema_description:"Existing path with the nearest name, where the path does not exist."`

	Kind     string `json:"kind,omitempty" jsonschema_description:"What the path is; of a symlink itself." jsonschema:"enum=file,enum=directory,enum=symlink,enum=other"`
	Size     *int64 `json:"size,omitempty" jsonschema_description:"Size of a file in bytes." jsonschema:"minimum=0,maximum=9223372036854775807"`
	Entries  *int64 `json:"entries,omitempty" jsonschema_description:"Number of entries of a directory." jsonschema:"minimum=0,maximum=9223372036854775807"`
	Mode     string `json:"mode,omitempty" jsonschema_description:"Permissions in octal: 0644."`
	Perm     string `json:"permissions,omitempty" jsonschema_description:"Kind and permissions as ls writes them: -rw-r--r--."`
	Modified string `json:"modified,omitempty" jsonschema_description:"Time of the last change, RFC 3339."`
	Links    uint64 `json:"links,omitempty" jsonschema_description:"Number of hard links, where there are several." jsonschema:"minimum=0,maximum=4294967295"`
	Target   string `json:"target,omitempty" jsonschema_description:"Text of a symlink; with escapes and a note where it is not UTF-8."`
	Resolved string `json:"resolved,omitempty" jsonschema_description:"Path that a symlink leads to; with escapes and a note where it is not UTF-8."`
	Inside   *bool  `json:"target_inside,omitempty" jsonschema_description:"Whether a symlink leads to something inside the workspace."`

	Hash         string `json:"hash,omitempty" jsonschema_description:"First 12 digits of the SHA-256 of the content; of small files."`
	Version      string `json:"version,omitempty" jsonschema_description:"Token that changes with size, time or inode; of large files."`
	MIME         string `json:"mime,omitempty" jsonschema_description:"Media type, by content."`
	Encoding     string `json:"encoding,omitempty" jsonschema_description:"Encoding of a text file."`
	EncodingFrom string `json:"encoding_source,omitempty" jsonschema_description:"How an encoding is known that is not certain." jsonschema:"enum=declared,enum=detected,enum=guessed"`
	BOM          bool   `json:"bom,omitempty" jsonschema_description:"Whether a byte order mark starts the text."`
	Endings      string `json:"line_ending,omitempty" jsonschema_description:"How lines end: LF, CRLF, CR, or mixed with the counts."`
	Lines        *int64 `json:"lines,omitempty" jsonschema_description:"Number of lines of a text file." jsonschema:"minimum=0,maximum=9223372036854775807"`
	FinalNewline *bool  `json:"final_newline,omitempty" jsonschema_description:"Whether the last line of a text file ends with a newline."`
}

func fileInfoTool() tools.Tool {
	return tools.New(tools.Def[FileInfoIn, FileInfoOut]{
		Name: "file_info", Title: "Describe files", Doc: fileInfoDoc, Tags: []string{"files", "size", "date", "type", "encoding", "permissions", "hash", "exists"},
		Aliases: []string{"file_exists"}, Foreign: tools.Called("get_file_info", "stat"),
		Access: tools.Read, Effects: tools.None, Repeatable: true, Data: true,
		Limits: tools.Limits{Facts: map[string]any{"hashed": view.Hashed()}},
		Examples: []tools.Example[FileInfoIn]{{
			Say:   "Is there a configuration, and in which form?",
			Files: map[string]string{"app.conf": "a=1\r\nb=2\r\n"},
			In:    FileInfoIn{Paths: []string{"app.conf", "apps.conf"}},
			Want: "2 paths: 1 found, 1 missing\n" +
				"app.conf: file, 10 B, 0644 -rw-r--r--, modified …\n" +
				"  text/plain; charset=utf-8, CRLF, 2 lines\n" +
				"  hash …\n" +
				"apps.conf: does not exist; nearest: app.conf",
		}},
		Run: fileInfo,
	})
}

func fileInfo(ctx context.Context, in FileInfoIn) (FileInfoOut, error) {
	out := FileInfoOut{Files: make([]FileInfo, 0, len(in.Paths))}
	for _, path := range in.Paths {
		if err := ctx.Err(); err != nil {
			return FileInfoOut{}, err
		}
		out.Files = append(out.Files, describePath(ctx, path))
	}
	return out, nil
}

// Text returns a block of lines for each path.
func (o FileInfoOut) Text() string {
	var exist, missing, refused int
	for _, f := range o.Files {
		switch {
		case f.Exists:
			exist++
		case f.Error != "":
			refused++
		default:
			missing++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d found, %d missing", textfile.Count(len(o.Files), "path"), exist, missing)
	if refused > 0 {
		fmt.Fprintf(&b, ", %d not described", refused)
	}
	for _, f := range o.Files {
		b.WriteString("\n" + f.text())
	}
	return b.String()
}

// Trim keeps as many paths as fit; the others can be asked for again.
func (o FileInfoOut) Trim(budget int) FileInfoOut {
	room := budget - 200
	for _, f := range o.Files {
		room = min(room, budget-200-len(textfile.Path(f.Path))) // for the entry that counts the paths left out
	}
	for i, f := range o.Files {
		if room -= len(f.text()) + 1; room < 0 {
			left := len(o.Files) - i
			o.Files = append(o.Files[:i:i], FileInfo{
				Path: f.Path, Error: fmt.Sprintf("left out with the %d after it: the result is full; ask for these paths in another call", left-1),
			})
			break
		}
	}
	return o
}

// describePath describes a path; an error is part of the description.
func describePath(ctx context.Context, text string) FileInfo {
	f := FileInfo{Path: text}
	path, err := tools.Resolve(ctx, text)
	if err != nil {
		return f.failed(err)
	}
	f.Path = path.String()
	info, err := path.Lstat()
	if e := tools.AsError(err); e != nil && e.Code == tools.NotFound {
		if near := tools.Session(ctx).Workspace.Nearest(path); utf8.ValidString(near) {
			f.Nearest = near
		}
		return f
	}
	if err != nil {
		return f.failed(err)
	}
	f.Exists, f.Kind = true, string(info.Kind)
	f.Mode, f.Perm = modes(info)
	f.Modified = info.ModTime.UTC().Format(time.RFC3339)
	switch info.Kind {
	case workspace.KindSymlink:
		inside := info.Resolved != ""
		if err := deniedTarget(path); !inside && err != nil {
			return f.failed(err)
		}
		f.Target, f.Resolved, f.Inside = encodable(info.Target), encodable(info.Resolved), &inside
	case workspace.KindDirectory:
		entries, err := path.ReadDir()
		if err != nil {
			return f.failed(err)
		}
		n := int64(len(entries))
		f.Entries = &n
	case workspace.KindFile:
		f.Size = &info.Size
		if info.Links > 1 {
			f.Links = info.Links
		}
		if err := f.read(ctx, path); err != nil {
			return f.failed(err)
		}
	}
	return f
}

// read describes the content of a file.
func (f *FileInfo) read(ctx context.Context, path workspace.Path) error {
	src, err := view.Open(ctx, path, "")
	if err != nil {
		return err
	}
	f.Size, f.MIME = &src.Size, src.Mime
	if src.Whole {
		f.Hash = view.ShortHash(src.Hash)
	} else {
		f.Version = src.Hash
	}
	if !src.Form.Binary {
		f.Encoding, f.EncodingFrom = src.Form.Encoding.Name(), string(src.Form.Source)
		f.BOM = src.Form.BOM > 0
		if src.Whole {
			lines, final := src.TotalLines(), src.FinalNewline()
			f.Endings, f.Lines = src.Form.Encoding.Count(src.Data).String(), &lines
			if src.Size > 0 {
				f.FinalNewline = &final
			}
		}
	}
	return src.Close()
}

func (f FileInfo) failed(err error) FileInfo {
	e := tools.AsError(err)
	f.Error = e.Error()
	return f
}

// encodable returns a path as data: itself, unless it is not UTF-8.
func encodable(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return textfile.Path(path)
}

// modes writes permissions in octal, with set-user-ID and the like, and as ls does.
func modes(info workspace.Info) (octal, ls string) {
	bits := uint32(info.Mode.Perm())
	const setuid, setgid, sticky = 0o4000, 0o2000, 0o1000
	letters := []byte(info.Mode.Perm().String())
	letters[0] = map[workspace.Kind]byte{workspace.KindDirectory: 'd', workspace.KindSymlink: 'l', workspace.KindFile: '-', workspace.KindOther: '?'}[info.Kind]
	for _, s := range []struct {
		set    bool
		bit    uint32
		at     int
		letter byte
	}{
		{info.Mode&fs.ModeSetuid != 0, setuid, 3, 's'},
		{info.Mode&fs.ModeSetgid != 0, setgid, 6, 's'},
		{info.Mode&fs.ModeSticky != 0, sticky, 9, 't'},
	} {
		if !s.set {
			continue
		}
		bits |= s.bit
		if letters[s.at] == '-' { // not executable: ls writes a capital
			s.letter -= 'a' - 'A'
		}
		letters[s.at] = s.letter
	}
	return fmt.Sprintf("%04o", bits), string(letters)
}

// text returns the description, in one or more lines.
func (f FileInfo) text() string {
	switch {
	case !f.Exists && f.Error != "":
		return textfile.Path(f.Path) + ": " + f.Error
	case !f.Exists && f.Nearest != "":
		return textfile.Path(f.Path) + ": does not exist; nearest: " + textfile.Path(f.Nearest)
	case !f.Exists:
		return textfile.Path(f.Path) + ": does not exist"
	}
	parts := []string{f.Kind}
	if f.Size != nil {
		parts = append(parts, textfile.Size(*f.Size))
	}
	if f.Entries != nil {
		parts = append(parts, textfile.Count(*f.Entries, "entry"))
	}
	parts = append(parts, f.Mode+" "+f.Perm, "modified "+f.Modified)
	if f.Links > 0 {
		parts = append(parts, fmt.Sprintf("%d hard links", f.Links))
	}
	text := textfile.Path(f.Path) + ": " + strings.Join(parts, ", ")
	if f.Inside != nil {
		text += "\n  -> " + textfile.Path(f.Target)
		switch {
		case !*f.Inside:
			text += " (leads to nothing inside the workspace)"
		case f.Resolved != f.Target:
			text += " (" + textfile.Path(f.Resolved) + ")"
		}
	}
	if line := f.content(); line != "" {
		text += "\n  " + line
	}
	switch {
	case f.Hash != "":
		text += "\n  hash " + f.Hash
	case f.Version != "":
		text += "\n  version " + f.Version
	}
	if f.Error != "" {
		text += "\n  " + f.Error
	}
	return text
}

// content describes the content of a file.
func (f FileInfo) content() string {
	if f.MIME == "" {
		return ""
	}
	parts := []string{f.MIME}
	if f.EncodingFrom != "" {
		parts[0] += " (" + f.EncodingFrom + ")"
	}
	if f.BOM {
		parts = append(parts, "BOM")
	}
	if f.Endings != "" {
		parts = append(parts, f.Endings)
	}
	if f.Lines != nil {
		parts = append(parts, textfile.Count(*f.Lines, "line"))
	}
	if f.FinalNewline != nil && !*f.FinalNewline {
		parts = append(parts, "no final newline")
	}
	return strings.Join(parts, ", ")
}
