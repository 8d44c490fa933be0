package files

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// describePath describes a path; what goes wrong is part of the description.
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
	src, err := openSource(ctx, path, "")
	if err != nil {
		return err
	}
	f.Size, f.MIME = &src.size, src.mime
	if src.whole {
		f.Hash = strings.TrimPrefix(src.id, "hash ")
	} else {
		f.Version = strings.TrimPrefix(src.id, "version ")
	}
	if !src.form.Binary {
		f.Encoding, f.EncodingFrom = src.form.Encoding.Name(), string(src.form.Source)
		f.BOM = src.form.BOM > 0
		if src.whole {
			lines, final := src.totalLines(), src.finalNewline()
			f.Endings, f.Lines = src.form.Encoding.Count(src.data).String(), &lines
			if src.size > 0 {
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

// text words the description in one to three lines.
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

// content words what the content of a file is.
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
