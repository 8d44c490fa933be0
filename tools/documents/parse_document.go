package documents

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/diskcache"
	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/tesseract"
	"toolcrib/tools/internal/losses"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/outbound"
)

//go:embed parse_document.md
var parseDocumentDoc string

// ParseDocumentIn says which document to read, and which part of it in which form.
type ParseDocumentIn struct {
	Path     string `json:"path,omitempty" jsonschema_description:"Document to read." path:"file" alias:"file_path,filename,file,source,uri,absolute_path,document,doc,input_file"`
	URL      string `json:"url,omitempty" jsonschema:"maxLength=8000" jsonschema_description:"Document of the web to read instead: http or https." alias:"link,address,href"`
	Format   string `json:"format,omitempty" jsonschema_description:"markdown; text without marks; chunks: passages with their headings; outline: headings with their offsets." jsonschema:"enum=markdown,enum=text,enum=chunks,enum=outline,default=markdown" alias:"output_format"`
	Pages    string `json:"pages,omitempty" jsonschema_description:"Pages, slides, sheets, chapters, members or attachments to read, such as \"1-3,7\"; default all." alias:"page,page_range,slides"`
	Sheet    string `json:"sheet,omitempty" jsonschema_description:"Name or number of the only sheet to read." alias:"sheet_name,worksheet"`
	Range    string `json:"range,omitempty" jsonschema_description:"Cells to read, such as \"A1:D20\", of each sheet." alias:"cells,cell_range"`
	Offset   int    `json:"offset,omitempty" jsonschema_description:"Character of the result to begin at, as the first line of the part before gives it." jsonschema:"minimum=0,maximum=1000000000,default=0" alias:"start_index"`
	Limit    int    `json:"limit,omitempty" jsonschema_description:"Most characters to return; fewer if they take more than 45000 bytes." jsonschema:"minimum=100,maximum=45000,default=20000" alias:"max_length,max_chars"`
	OCR      string `json:"ocr,omitempty" jsonschema:"pattern=^[A-Za-z_]+([+][A-Za-z_]+)*$,default=auto" jsonschema_description:"How to read pages that are only images: auto; never; or the languages of tesseract, such as \"eng+chi_sim\"."`
	Password string `json:"password,omitempty" jsonschema_description:"Password of an encrypted PDF or Office file."`
	Save     string `json:"save,omitempty" jsonschema_description:"Write the whole text to this file instead of showing it." path:"file" alias:"save_to,output,output_path"`
}

// ParseDocumentOut is a part of a document.
type ParseDocumentOut struct {
	status string
	body   string
	tools.More
}

// Text returns the status and the part.
func (o ParseDocumentOut) Text() string {
	if o.body == "" {
		return o.status
	}
	return o.status + "\n\n" + o.body
}

func parseDocumentTool(d *deps) tools.Tool {
	limits := document.Standard()
	return tools.New(tools.Def[ParseDocumentIn, ParseDocumentOut]{
		Name: "parse_document", Title: "Read a document", Doc: parseDocumentDoc, Tags: []string{"documents", "files", "text", "pdf", "word", "excel", "slides", "tables"},
		Aliases: []string{"doc_parser", "simple_doc_parser"},
		Access:  tools.External, Least: tools.Read, Effects: tools.Workspace | tools.Network, Repeatable: true, Streams: true,
		Limits: tools.Limits{Facts: map[string]any{
			"tokens": document.ChunkTokens, "file": textfile.Size(limits.File), "web": textfile.Size(mostFromWeb), "unpacked": textfile.Size(limits.Unpacked),
			"entries": limits.Entries, "cells": limits.Cells, "text": textfile.Size(limits.Text),
		}},
		Spellings: []schema.Spelling{
			{Names: []string{"path", "url"}, Always: true, Read: placed},
			schema.Values("format", map[string]string{"md": "markdown", "plain": "text", "txt": "text", "chunk": "chunks", "toc": "outline"}),
		},
		Plan:    parseDocumentPlan,
		Confirm: parseDocumentQuestion,
		Redact: func(_ context.Context, in ParseDocumentIn) ParseDocumentIn {
			if in.Password != "" {
				in.Password = "…"
			}
			in.Path = withoutSecrets(in.Path)
			if in.URL != "" {
				in.URL = outbound.Shown(in.URL)
			}
			return in
		},
		Examples: []tools.Example[ParseDocumentIn]{{
			Say:   "Read a page with a table",
			Files: map[string]string{"prices.html": "<h1>Prices</h1><table><tr><th>Fruit<th>Price<tr><td>Apple<td>1.20</table>"},
			In:    ParseDocumentIn{Path: "prices.html"},
			Want:  "prices.html: html; characters 0-59 of 59\n\n# Prices\n\n| Fruit | Price |\n| --- | --- |\n| Apple | 1.20 |\n",
		}, {
			Say:   "What is in a long document?",
			Files: map[string]string{"guide.md": "# Guide\n\nText.\n\n## Setup\n\nMore.\n"},
			In:    ParseDocumentIn{Path: "guide.md", Format: "outline"},
			Want:  "guide.md: markdown, outline; characters 0-40 of 40\n\n# Guide (offset=0)\n## Setup (offset=16)\n",
		}},
		Run: d.parseDocument,
	})
}

// placed reads a path that is a URL, and a URL that is a path.
func placed(given map[string]any) (map[string]any, error) {
	file, _ := given["path"].(string)
	url, _ := given["url"].(string)
	switch {
	case url == "" && isURL(file):
		return map[string]any{"url": file}, nil
	case file == "" && url != "" && !isURL(url):
		return map[string]any{"path": url}, nil
	}
	return nil, nil
}

func isURL(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && scheme != "file"
}

func parseDocumentPlan(_ context.Context, in ParseDocumentIn) (tools.Plan, error) {
	plan := tools.Plan{Access: tools.Read, Effects: tools.None}
	if in.Save != "" {
		plan = tools.Plan{Access: tools.Write, Effects: tools.Workspace, Writes: true}
	}
	if in.URL != "" {
		plan.Access, plan.Effects = tools.External, plan.Effects&^tools.None|tools.Network
	}
	return plan, nil
}

// parseDocumentQuestion asks before a file is replaced that the history cannot keep.
func parseDocumentQuestion(ctx context.Context, in ParseDocumentIn) (tools.Question, error) {
	if in.Save == "" {
		return tools.Question{}, nil
	}
	return losses.Overwriting(ctx, in.Save)
}

func (d *deps) parseDocument(ctx context.Context, in ParseDocumentIn) (ParseDocumentOut, error) {
	switch {
	case (in.Path == "") == (in.URL == ""):
		return ParseDocumentOut{}, tools.Errorf(tools.InvalidArgument, "it reads one document: a path or a url").WithHint("give one of the two")
	case in.Save != "" && in.Offset > 0:
		return ParseDocumentOut{}, tools.Errorf(tools.InvalidArgument, "save writes the whole text, not the rest from an offset").WithHint("leave out offset")
	}
	from, err := d.open(ctx, in)
	if err != nil {
		return ParseDocumentOut{}, err
	}
	defer func() { _ = from.close() }()
	r, err := d.rendering(ctx, from, in)
	if err != nil {
		return ParseDocumentOut{}, failure(from.shown, err)
	}
	r.note = from.note
	if in.Save != "" {
		return save(ctx, from, r, in)
	}
	return page(from.shown, r, in), ctx.Err()
}

// rendering returns a document in the form that a call wants.
func (d *deps) rendering(ctx context.Context, from *origin, in ParseDocumentIn) (rendering, error) {
	pages, err := document.ParsePages(in.Pages)
	if err != nil {
		return rendering{}, tools.Errorf(tools.InvalidArgument, "pages: %v", err).WithHint(`write them as "1-3,7"`)
	}
	budget := document.NewBudget(ctx, document.Standard())
	languages, recognizes := d.languages(in.OCR)
	if recognizes {
		budget.Recognizer = d.readers.Tesseract.With(languages)
	}
	if err := budget.CheckFile(from.size); err != nil {
		return rendering{}, err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(from, 0, from.size)); err != nil {
		return rendering{}, err
	}
	build := d.shared.Build()
	fmt.Fprintf(hash, "\x00%q", []string{build, path.Ext(from.name), in.Format, in.Pages, in.Sheet, in.Range, in.Password, fmt.Sprint(recognizes), languages, tesseract.Find()})
	key := diskcache.Key(hash.Sum(nil))
	if r, ok := d.kept.get(key); ok {
		return r, nil
	}
	shared := build != "" && in.Password == "" // what a password opens stays in memory
	if shared {
		var r rendering
		if body, _, ok := onDisk.Load(ctx, key, &r.head); ok {
			r.body = string(body)
			d.kept.put(key, r)
			return r, nil
		}
	}
	src := document.Source{ReaderAt: from, Size: from.size, Name: from.name, Password: in.Password, Pages: pages, Sheet: in.Sheet, Range: in.Range}
	doc, err := d.readers.Read(src, budget)
	if err != nil {
		return rendering{}, err
	}
	r := rendering{head: head{Format: doc.Format, Title: doc.Title, Warnings: doc.Warnings}, body: render(doc, in.Format)}
	for _, f := range doc.Fields {
		r.Fields = append(r.Fields, f.Name+": "+f.Value)
	}
	if recognizes && budget.Unread > 0 && tesseract.Find() != "" { // another call may read more
		return r, nil
	}
	d.kept.put(key, r)
	if shared && budget.Recognized == 0 { // of which there may be more languages then
		if err := onDisk.Store(ctx, key, r.head, []byte(r.body)); err != nil && !errors.Is(err, diskcache.ErrNotKept) {
			tools.Log(ctx).Warn("the text of a document is not kept for other processes", "err", err)
		}
	}
	return r, nil
}

func render(doc *document.Document, format string) string {
	switch format {
	case "text":
		return doc.Text()
	case "chunks":
		var b strings.Builder
		for i, c := range doc.Chunks() {
			var about []string
			if c.Part != "" {
				about = append(about, c.Part)
			}
			if len(c.Headings) > 0 {
				about = append(about, strings.Join(c.Headings, " > "))
			}
			about = append(about, fmt.Sprintf("%d tokens", c.Tokens))
			fmt.Fprintf(&b, "[chunk %d: %s]\n%s\n\n", i+1, strings.Join(about, "; "), c.Text)
		}
		return b.String()
	case "outline":
		var b strings.Builder
		for _, e := range doc.Outline() {
			if e.Level > 0 {
				b.WriteString(strings.Repeat("#", e.Level) + " ")
			}
			fmt.Fprintf(&b, "%s (offset=%d)\n", e.Text, e.Start)
		}
		return b.String()
	}
	return doc.Markdown()
}

// mostBytes is how many bytes of a document a result has, so that its status fits too.
const mostBytes = 45_000

// page returns the part of a document that a call wants.
func page(name string, r rendering, in ParseDocumentIn) ParseDocumentOut {
	total := utf8.RuneCountInString(r.body)
	status := name + ": " + r.kind(in.Format)
	var out ParseDocumentOut
	switch {
	case total == 0 && in.Format == "outline":
		status += "; it has no headings and no parts"
	case total == 0:
		status += "; it has no text"
	case in.Offset >= total:
		out.status = name + ": " + paging.PastEnd("offset", int64(in.Offset), fmt.Sprintf("%d characters", total), int64(total-1))
		return out
	default:
		rest := r.body[byteAt(r.body, in.Offset):]
		out.body = part(rest, in.Limit)
		end := in.Offset + utf8.RuneCountInString(out.body)
		status += fmt.Sprintf("; characters %d-%d of %d", in.Offset, end, total)
		if end < total {
			status += fmt.Sprintf("; next: offset=%d", end)
			out.More = tools.NextAt("offset", end)
		}
	}
	if in.Offset == 0 {
		status += about(r)
	}
	out.status = status
	return out
}

// about returns lines with what a document says of itself, and with what is wrong with it.
func about(r rendering) string {
	const longest = 300
	var lines []string
	if r.note != "" {
		lines = append(lines, "("+r.note+")")
	}
	if r.Title != "" {
		lines = append(lines, "title: "+r.Title)
	}
	lines = append(lines, r.Fields...)
	for _, w := range r.Warnings[:min(len(r.Warnings), 10)] {
		lines = append(lines, "warning: "+w)
	}
	if more := len(r.Warnings) - 10; more > 0 {
		lines = append(lines, fmt.Sprintf("%d more warnings", more))
	}
	var b strings.Builder
	for i, line := range lines {
		if i == 20 {
			break
		}
		line = textfile.Visible(strings.Join(strings.Fields(line), " "))
		if len(line) > longest {
			line = strings.ToValidUTF8(line[:longest], "") + "…"
		}
		b.WriteString("\n" + line)
	}
	return b.String()
}

// byteAt returns where a character begins.
func byteAt(text string, chars int) int {
	if chars == 0 {
		return 0
	}
	n := 0
	for i := range text {
		if n == chars {
			return i
		}
		n++
	}
	return len(text)
}

// part returns the start of a text, cut at the end of a line where one is near.
func part(text string, chars int) string {
	end := min(byteAt(text, chars), mostBytes)
	if end >= len(text) {
		return text
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if line := strings.LastIndexByte(text[:end], '\n'); line > end*4/5 {
		end = line + 1
	}
	return text[:end]
}

// failure returns the error of a document that cannot be read.
func failure(name string, err error) error {
	e, ok := errors.AsType[*document.Error](err)
	if !ok {
		return err
	}
	say := textfile.Visible(strings.ToValidUTF8(e.Say, "\uFFFD"))
	switch e.Cause {
	case document.Encrypted:
		hint := "ask the user for a copy without a password"
		if e.Opens {
			hint = "ask the user for its password, for the argument password, or for a copy without one"
		}
		return &tools.Error{Code: tools.Denied, Msg: name + " is encrypted: " + say, Hint: hint, Err: err}
	case document.Truncated:
		return &tools.Error{Code: tools.Unsupported, Msg: name + " is truncated: " + say, Hint: "get the file again", Err: err}
	case document.Malformed:
		return &tools.Error{Code: tools.Unsupported, Msg: name + " is malformed: " + say, Hint: "read_file shows its bytes", Err: err}
	case document.TooLarge:
		return &tools.Error{Code: tools.TooLarge, Msg: name + " is too large: " + say, Hint: "choose a part by pages, sheet or range, or divide the file", Err: err}
	case document.Absent:
		return &tools.Error{Code: tools.NotFound, Msg: name + ": " + say, Hint: "format=outline lists the parts", Err: err}
	}
	return &tools.Error{Code: tools.Unsupported, Msg: name + ": " + say, Hint: "read_file shows text and bytes", Err: err}
}
