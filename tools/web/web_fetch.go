package web

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/losses"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/secrets"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/outbound"
	"toolcrib/tools/web/internal/page"
	"toolcrib/workspace"
)

//go:embed web_fetch.md
var webFetchDoc string

// FetchIn is an address and what is wanted of it.
type FetchIn struct {
	URL     string   `json:"url" jsonschema:"minLength=1,maxLength=8000" jsonschema_description:"http or https" alias:"uri,link,address,href,page"`
	Format  string   `json:"format,omitempty" jsonschema:"enum=markdown,enum=text,enum=links,enum=structured,enum=raw,default=markdown" jsonschema_description:"raw: as the server sent it" alias:"extract_type,extractMode,extract_mode,output_format,type"`
	Main    bool     `json:"main,omitempty" jsonschema:"default=true" jsonschema_description:"only the main text of a page, without menus" alias:"main_content,only_main_content"`
	Query   string   `json:"query,omitempty" jsonschema:"maxLength=400" jsonschema_description:"only the sections that answer this" alias:"prompt,question,search"`
	Outline bool     `json:"outline,omitempty" jsonschema:"default=false" jsonschema_description:"only the headings, with their offsets"`
	Offset  int      `json:"offset,omitempty" jsonschema:"minimum=0,maximum=100000000,default=0" jsonschema_description:"characters to skip; the last result names the next" alias:"start_index,start"`
	Limit   int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50000,default=20000" jsonschema_description:"most characters" alias:"max_length,max_chars,maxChars,max_characters"`
	Render  string   `json:"render,omitempty" jsonschema:"enum=auto,enum=always,enum=never,default=auto" jsonschema_description:"run the scripts of the page in a browser; auto: if there is no text without them" alias:"javascript,js"`
	Method  string   `json:"method,omitempty" jsonschema:"enum=GET,enum=HEAD,enum=POST,enum=PUT,enum=PATCH,enum=DELETE,enum=OPTIONS,default=GET" jsonschema_description:"other than GET and HEAD asks the user"`
	Headers []string `json:"headers,omitempty" jsonschema:"maxItems=30" jsonschema_description:"each as Name: value" alias:"header"`
	Body    string   `json:"body,omitempty" jsonschema:"maxLength=1000000" jsonschema_description:"of the request" alias:"data" record:"digest"`
	Save    string   `json:"save,omitempty" jsonschema_description:"write the whole text to this file instead of showing it" path:"file" alias:"save_to,output,output_path"`
}

// FetchOut is a part of what was read.
type FetchOut struct {
	Status string // the first line
	Notes  []string
	Body   string
	tools.More
	blocks []tools.Block
}

func webFetchTool(e *engine) tools.Tool {
	return tools.New(tools.Def[FetchIn, FetchOut]{
		Name: "web_fetch", Title: "Read a web page", Doc: webFetchDoc, Tags: []string{"web", "http", "url", "read a link", "api"},
		Aliases: []string{"fetch_page", "web_extractor"}, Spellings: []schema.Spelling{
			schema.One("url", "addresses", "web_crawl takes several in urls", "urls"), {Names: []string{"headers"}, Read: namedHeaders}, schema.Flag(map[string]any{"format": "raw"}, schema.Same(), "raw"),
		},
		Foreign: tools.Called("WebFetch", "webfetch", "fetch", "fetch_url", "fetch_webpage", "read_url"),
		Access:  tools.External, Effects: tools.Network | tools.Workspace | tools.Destroys,
		Limits:  tools.Limits{Text: tools.MaxText, Facts: map[string]any{"snapshot": "15 minutes"}},
		Plan:    e.webFetchPlan,
		Redact:  redactFetch,
		Confirm: webFetchQuestion,
		Examples: []tools.Example[FetchIn]{{
			Say:  "a page",
			In:   FetchIn{URL: "https://docs.example.org/kites", Main: true},
			Want: "https://docs.example.org/kites: 415 characters\ntitle: Kites; language: en\n(" + outside + ")\n\nRed kites are birds of prey …\n\n## Food\n...",
		}, {
			Say:  "where a long page says something",
			In:   FetchIn{URL: "https://docs.example.org/kites", Main: true, Query: "what do they eat?", Limit: 200},
			Want: "https://docs.example.org/kites: 1 of 3 sections answers \"what do they eat?\", 415 characters in all\n...\n[offset 142]\n## Food\n\nRed kites eat carrion and worms, …",
		}},
		Run: e.webFetch,
	})
}

// namedHeaders reads an object of headers.
func namedHeaders(given map[string]any) (map[string]any, error) {
	object, ok := given["headers"].(map[string]any)
	if !ok {
		return nil, nil
	}
	lines := []string{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		lines = append(lines, fmt.Sprintf("%s: %v", name, object[name]))
	}
	return map[string]any{"headers": lines}, nil
}

// redactFetch keeps secrets in the address and in headers out of records.
func redactFetch(_ context.Context, in FetchIn) FetchIn {
	in.URL = outbound.Shown(in.URL)
	in.Headers = slices.Clone(in.Headers)
	for i, line := range in.Headers {
		if name, _, ok := strings.Cut(line, ":"); !ok {
			in.Headers[i] = secrets.Mark
		} else if name = strings.TrimSpace(name); outbound.SecretHeader(name) {
			in.Headers[i] = name + ": " + secrets.Mark
		}
	}
	return in
}

func (e *engine) webFetchPlan(_ context.Context, in FetchIn) (tools.Plan, error) {
	plan := tools.Plan{Effects: tools.Network}
	if in.Save != "" {
		plan.Effects |= tools.Workspace // the history keeps what was there, or the user is asked
		plan.Writes = true
	}
	if changes(in.Method) {
		plan.Effects |= tools.Destroys
	}
	return plan, nil
}

// webFetchQuestion asks before a request that may change something at the server, and before
// a file is replaced that the history cannot keep.
func webFetchQuestion(ctx context.Context, in FetchIn) (q tools.Question, err error) {
	if in.Save != "" {
		if q, err = losses.Overwriting(ctx, in.Save); err != nil {
			return q, err
		}
	}
	if !changes(in.Method) {
		return q, nil
	}
	u, err := address(in.URL)
	if err != nil {
		return tools.Question{}, err
	}
	say := "send " + in.Method + " " + shown(u.String())
	if in.Body != "" {
		say += " with: " + cut(in.Body, 500)
	}
	if q.Message != "" {
		say += "\n" + q.Message
	}
	return tools.Question{Message: say}, nil
}

func (e *engine) webFetch(ctx context.Context, in FetchIn) (FetchOut, error) {
	header, err := headers(in.Headers)
	if err != nil {
		return FetchOut{}, err
	}
	if in.Body != "" && !changes(in.Method) {
		return FetchOut{}, tools.Errorf(tools.InvalidArgument, "a request with method %s has no body", in.Method).WithHint("use method=POST")
	}
	if in.Save != "" && (in.Method == http.MethodHead || in.Method == http.MethodOptions) {
		return FetchOut{}, tools.Errorf(tools.InvalidArgument, "an answer to %s has no text to save", in.Method).WithHint("leave out save, or use method=GET")
	}
	r := request{url: in.URL, method: in.Method, header: header, render: in.Render, further: in.Offset > 0}
	if in.Format == "raw" && in.Render == "auto" {
		r.render = "never"
	}
	if in.Body != "" {
		r.body = []byte(in.Body)
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "text/plain; charset=utf-8")
			if json.Valid(r.body) {
				header.Set("Content-Type", "application/json")
			}
		}
	}
	got, err := reaching(ctx, e, func() (*reading, error) { return e.read(ctx, r) })
	if err != nil {
		return FetchOut{}, err
	}
	if in.Method == http.MethodHead || in.Method == http.MethodOptions {
		return FetchOut{Status: fmt.Sprintf("%s: HTTP %d", shown(got.page.URL), got.page.Status), Body: headerLines(got.page.Header)}, nil
	}
	t, err := got.convert(ctx, e.readers, in.Format, in.Main)
	switch {
	case err == nil:
	case t.kind == "image" && in.Save == "":
		return e.image(ctx, got, t)
	case t.kind == "file" && in.Save == "":
		return FetchOut{Status: tools.AsError(err).Msg, Notes: []string{t.wayOut()}, blocks: e.link(ctx, got, t.media)}, nil
	default:
		return FetchOut{}, err
	}
	out := FetchOut{Notes: got.head(in, t)}
	if in.Save != "" {
		return e.save(ctx, in, got, t, out)
	}
	out.show(in, got, t)
	return out, ctx.Err()
}

// headers reads lines of headers.
func headers(lines []string) (http.Header, error) {
	header := http.Header{}
	for i, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, tools.Errorf(tools.InvalidArgument, "headers[%d] is not a header", i).WithHint("write each as Name: value")
		}
		header.Add(name, strings.TrimSpace(value))
	}
	return header, nil
}

func headerLines(header http.Header) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(header)) {
		fmt.Fprintf(&b, "%s: %s\n", name, cut(strings.Join(header[name], ", "), 500))
	}
	return b.String()
}

// head is what is said of a page before its text.
func (r *reading) head(in FetchIn, t text) []string {
	var facts []string
	for _, fact := range [][2]string{{"title: ", t.meta.Title}, {"by ", t.meta.Byline}, {"date: ", t.meta.Date}, {"language: ", t.meta.Language}, {"feed: ", t.meta.Feed}} {
		if fact[1] != "" {
			facts = append(facts, fact[0]+cut(fact[1], 200))
		}
	}
	if t.kind != "page" {
		facts = append(facts, "type: "+t.media)
	}
	if t.charset.Name != "" && t.charset.Name != "utf-8" {
		facts = append(facts, "charset: "+t.charset.Name+" ("+t.charset.Source+")")
	}
	var lines []string
	if len(facts) > 0 {
		lines = append(lines, strings.Join(facts, "; "))
	}
	notes := slices.Clone(t.notes)
	if r.ask.URL != r.page.URL {
		notes = append(notes, "redirected from "+shown(r.ask.URL))
	}
	if r.rendered {
		notes = append(notes, "rendered by a browser")
	}
	if r.renewed {
		notes = append(notes, "the page was read anew, since its first reading is no longer kept: it may differ")
	}
	if len(notes) > 0 {
		lines = append(lines, strings.Join(notes, "; "))
	}
	return append(lines, "("+outside+")")
}

// show takes the part of the text that is wanted.
func (o *FetchOut) show(in FetchIn, r *reading, t text) {
	total := utf8.RuneCountInString(t.body)
	at := shown(r.page.URL)
	switch {
	case in.Outline:
		headings := page.Outline(t.body)
		o.Status = fmt.Sprintf("%s: %s in %s; offset reads from one", at, textfile.Count(len(headings), "heading"), textfile.Count(total, "character"))
		var b strings.Builder
		for _, h := range headings {
			fmt.Fprintf(&b, "%d\t%s%s\n", h.Offset, strings.Repeat("  ", h.Level-1), h.Text)
		}
		o.Body = b.String()
	case in.Query != "" && in.Offset == 0:
		sections := page.Sections(t.body)
		best := page.Best(sections, in.Query, min(in.Limit, mostBytes/4))
		if len(best) == 0 {
			o.Status = fmt.Sprintf("%s: no section has a word of %q; here is its beginning, of %s", at, in.Query, textfile.Count(total, "character"))
			o.part(in, t.body)
			return
		}
		verb := "answer"
		if len(best) == 1 {
			verb = "answers"
		}
		o.Status = fmt.Sprintf("%s: %d of %s %s %q, %s in all", at, len(best), textfile.Count(len(sections), "section"), verb, in.Query, textfile.Count(total, "character"))
		var b strings.Builder
		for _, s := range best {
			fmt.Fprintf(&b, "[offset %d", s.Offset)
			if len(s.Path) > 1 {
				b.WriteString(", " + strings.Join(s.Path, " > "))
			}
			b.WriteString("]\n" + strings.TrimSpace(s.Text) + "\n\n")
		}
		o.Body = b.String()
	case in.Offset > 0 && in.Offset >= total:
		o.Status = at + ": " + paging.PastEnd("offset", int64(in.Offset), textfile.Count(total, "character"), int64(max(total-1, 0)))
	default:
		o.Status = at + ": " + textfile.Count(total, "character")
		if total == 0 {
			o.Status = at + ": it has no text"
		}
		o.part(in, t.body)
	}
}

// mostBytes is how many bytes of a page one result has, whatever their number of characters.
const mostBytes = tools.MaxText - 5000

// part shows the characters from the offset on.
func (o *FetchOut) part(in FetchIn, body string) {
	begin, end, runes := len(body), len(body), 0
	for i, r := range body {
		if runes == in.Offset {
			begin = i
		}
		if runes == in.Offset+in.Limit || runes > in.Offset && i+utf8.RuneLen(r) > begin+mostBytes {
			end = i
			break
		}
		runes++
	}
	o.Body = body[begin:end]
	if end < len(body) {
		o.More = tools.NextAt("offset", runes)
		o.Status += fmt.Sprintf(", %d to %d shown; next: offset=%d", in.Offset, runes, runes)
	} else if in.Offset > 0 {
		o.Status += fmt.Sprintf(", %d to the end shown", in.Offset)
	}
}

// image shows an image.
func (e *engine) image(ctx context.Context, r *reading, t text) (FetchOut, error) {
	pic, err := e.converter.Show(ctx, io.NewSectionReader(bytes.NewReader(r.page.Body), 0, int64(len(r.page.Body))), t.media)
	if err != nil {
		return FetchOut{}, tools.Errorf(tools.Unsupported, "%s is an image of type %s with %s that cannot be shown: %v", shown(r.page.URL), t.media, textfile.Size(int64(len(r.page.Body))), err).
			WithHint("download saves it to the workspace")
	}
	out := FetchOut{Status: fmt.Sprintf("%s: %s, %dx%d, %s", shown(r.page.URL), t.media, pic.Width, pic.Height, textfile.Size(int64(len(r.page.Body)))), blocks: []tools.Block{pic.Block}}
	if pic.How != "" {
		out.Status += "; " + pic.How
	}
	return out, nil
}

// save writes the whole text to a file.
func (e *engine) save(ctx context.Context, in FetchIn, r *reading, t text, out FetchOut) (FetchOut, error) {
	path, err := tools.Resolve(ctx, in.Save)
	if err != nil {
		return FetchOut{}, err
	}
	body := t.body
	if t.kind == "page" && in.Format == "markdown" && in.Main && t.meta.Title != "" && !strings.HasPrefix(body, "# ") {
		body = "# " + t.meta.Title + "\n\n" + body
	}
	if !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	s := tools.Session(ctx)
	_, err = s.Workspace.Apply(ctx, workspace.Change{Tool: "web_fetch", Principal: s.Principal, Client: s.Client.Name, Call: s.Call, Group: s.Group, Ops: []workspace.Op{{
		Kind: workspace.OpWrite, Path: path, New: func(workspace.Old) ([]byte, error) { return []byte(body), nil },
	}}})
	if err != nil {
		return FetchOut{}, err
	}
	tools.Changed(ctx, path.String())
	out.Status = fmt.Sprintf("%s: saved to %s, %s, %s", shown(r.page.URL), path, textfile.Count(utf8.RuneCountInString(body), "character"), textfile.Size(int64(len(body))))
	return out, nil
}

// Text implements [tools.Texter].
func (o FetchOut) Text() string {
	var b strings.Builder
	b.WriteString(o.Status + "\n")
	for _, note := range o.Notes {
		b.WriteString(note + "\n")
	}
	if o.Body != "" {
		b.WriteString("\n" + o.Body)
	}
	return b.String()
}

// Content implements [tools.Contenter].
func (o FetchOut) Content() []tools.Block {
	return append([]tools.Block{tools.Text(o.Text())}, o.blocks...)
}
