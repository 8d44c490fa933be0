package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
)

// maxSource is how many bytes a text may have.
const maxSource = 10 << 20

// admit ends a call that was cancelled, and one that names a path outside of the workspace,
// also where the operation does not read it.
func admit(ctx context.Context, paths ...string) error {
	for _, name := range paths {
		if name == "" {
			continue
		}
		path, err := tools.Resolve(ctx, name)
		if err != nil {
			return err
		}
		file, err := path.Open()
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// source returns the text that a call names: itself, or a file. what names the argument.
func source(ctx context.Context, what string, text *string, path string) (string, error) {
	switch {
	case text != nil && path != "":
		return "", tools.Errorf(tools.InvalidArgument, "both %s and a file are given", what).WithHint("give one of them")
	case text != nil && len(*text) > maxSource:
		return "", tools.Errorf(tools.TooLarge, "%s has %s, at most %s are read", what, textfile.Size(int64(len(*text))), textfile.Size(maxSource))
	case text != nil:
		return *text, nil
	case path == "":
		return "", tools.Errorf(tools.InvalidArgument, "no %s is given", what).WithHint("give it, or a file as %s", pathOf[what])
	}
	return readFile(ctx, path)
}

// pathOf are the arguments that name a file in the place of a text.
var pathOf = map[string]string{"text": "path", "other": "other_path", "schema": "schema_path"}

// readFile returns the text of a file of the workspace as UTF-8.
func readFile(ctx context.Context, name string) (string, error) {
	data, shown, err := readBytes(ctx, name)
	if err != nil {
		return "", err
	}
	form := textfile.Sniff(data, true)
	if form.Binary {
		return "", tools.Errorf(tools.InvalidArgument, "%s is no text", shown)
	}
	text := string(form.Encoding.Decode(data[form.BOM:]))
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return text, nil
}

// readBytes returns the bytes of a file of the workspace, and its path as texts show it.
func readBytes(ctx context.Context, name string) (data []byte, shown string, err error) {
	path, err := tools.Resolve(ctx, name)
	if err != nil {
		return nil, "", err
	}
	file, err := path.Open()
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	size := file.Info().Size
	shown = textfile.Path(path.String())
	if size > maxSource {
		return nil, "", tools.Errorf(tools.TooLarge, "%s has %s, at most %s are read", shown, textfile.Size(size), textfile.Size(maxSource))
	}
	data = make([]byte, size)
	n, err := io.ReadFull(io.NewSectionReader(file, 0, size), data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, "", err
	}
	return data[:n], shown, nil
}

// Page is a result in lines, of which the text shows those from an offset.
type Page struct {
	tools.More
	head   string // above the lines; "" = nothing
	lines  []string
	offset int // lines skipped
	shown  int // lines of the page
	cut    bool
}

// newPage returns the page from an offset.
func newPage(head, body string, offset int) (Page, error) {
	p := Page{head: head, offset: offset}
	if body != "" || head == "" {
		p.lines = strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	}
	if offset > 0 && offset >= len(p.lines) {
		return p, tools.Errorf(tools.InvalidArgument, "offset %d is past the end: the result has %s", offset, textfile.Count(len(p.lines), "line"))
	}
	p.shown = len(p.lines) - offset
	return p, nil
}

// Text implements [tools.Texter].
func (p Page) Text() string {
	var parts []string
	if p.offset > 0 || p.Next != nil {
		status := fmt.Sprintf("lines %d to %d of %d", p.offset+1, p.offset+p.shown, len(p.lines))
		if p.Next != nil {
			status += fmt.Sprintf("; next: offset=%d", p.offset+p.shown)
		}
		if p.cut {
			status += "; the last one is cut"
		}
		parts = append(parts, status)
	}
	if p.head != "" {
		parts = append(parts, p.head)
	}
	return strings.Join(append(parts, p.lines[p.offset:p.offset+p.shown]...), "\n")
}

// Trim implements [tools.Trimmer].
func (p Page) Trim(budget int) Page {
	room := budget - len(p.head) - 200
	for i, line := range p.lines[p.offset:] {
		if room -= len(line) + 1; room >= 0 {
			continue
		}
		if p.shown = i; i == 0 {
			p.lines = append([]string(nil), p.lines...)
			p.lines[p.offset] = strings.ToValidUTF8(line[:max(len(line)+1+room, 0)], "") + "…"
			p.shown, p.cut = 1, true
		}
		break
	}
	if next := p.offset + p.shown; next < len(p.lines) {
		p.More = tools.NextAt("offset", next)
	}
	return p
}
