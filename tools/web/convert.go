package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/linked"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/outbound"
	"toolcrib/tools/web/internal/feed"
	"toolcrib/tools/web/internal/page"
)

// mediaType is the type that a server declares, or else that the content has.
func mediaType(p *outbound.Page) string {
	declared, _, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
	found, _, _ := mime.ParseMediaType(http.DetectContentType(p.Body)) // what it returns can be parsed
	switch {
	case err != nil, declared == "application/octet-stream", declared == "binary/octet-stream":
		return found
	case declared == "text/plain" && found == "text/html" && !strings.HasPrefix(p.Header.Get("X-Content-Type-Options"), "nosniff"):
		return found
	case strings.HasPrefix(found, "image/") && strings.HasPrefix(declared, "text/"), found == "application/pdf":
		return found
	}
	return declared
}

func isPage(p *outbound.Page) bool {
	m := mediaType(p)
	return m == "text/html" || m == "application/xhtml+xml"
}

// isText reports whether a media type is a text.
func isText(m string) bool {
	return strings.HasPrefix(m, "text/") && m != "text/rtf" || strings.HasSuffix(m, "+json") || strings.HasSuffix(m, "+xml") || slices.Contains([]string{
		"application/json", "application/xml", "application/javascript", "application/x-javascript", "application/ecmascript",
		"application/yaml", "application/x-yaml", "application/toml", "application/x-ndjson", "application/ld+json", "application/graphql",
		"application/x-sh", "application/sql", "application/x-www-form-urlencoded",
	}, m)
}

// textOf returns the text of any page, in short.
func textOf(p *outbound.Page) string {
	isPage := isPage(p)
	if !isPage && !isText(mediaType(p)) {
		return ""
	}
	text, _ := page.Decode(p.Body, p.Header.Get("Content-Type"))
	if !isPage {
		return string(text)
	}
	return page.Parse(context.Background(), text, parsed(p.URL)).Main(context.Background()).Markdown
}

// fewLetters is how short the text of a page is that may be made by its scripts.
const fewLetters = 200

// needsScripts reports whether a page shows almost nothing before its scripts run.
func needsScripts(ctx context.Context, p *outbound.Page) bool {
	text, _ := page.Decode(p.Body, p.Header.Get("Content-Type"))
	if !bytes.Contains(bytes.ToLower(text), []byte("<script")) {
		return false
	}
	return utf8.RuneCountInString(page.Parse(ctx, text, parsed(p.URL)).Whole(ctx).Markdown) < fewLetters
}

// text is what was read, as a text.
type text struct {
	kind    string // page, feed, text, document, image or file
	media   string
	charset page.Charset
	meta    page.Meta
	body    string
	notes   []string
}

// convert makes the text of what was read in a format. The error is that of what has no such
// text.
func (r *reading) convert(ctx context.Context, readers *linked.Readers, format string, main bool) (text, error) {
	p := r.page
	t := text{kind: "text", media: mediaType(p), notes: slices.Clone(r.notes)}
	switch {
	case isPage(p):
		t.kind = "page"
	case strings.HasPrefix(t.media, "image/") && t.media != "image/svg+xml":
		t.kind = "image"
	case !isText(t.media):
		t.kind = "file"
	}
	if format == "markdown" || format == "text" {
		if read, err := t.document(ctx, readers, p, format); read {
			return t, err
		}
	}
	if t.kind == "image" || t.kind == "file" {
		return t, tools.Errorf(tools.Unsupported, "%s is a file of type %s with %s, not a text", shown(p.URL), t.media, textfile.Size(int64(len(p.Body)))).
			WithHint("%s", t.wayOut())
	}
	var decoded []byte
	decoded, t.charset = page.Decode(p.Body, p.Header.Get("Content-Type"))
	if format == "raw" {
		t.body = string(decoded)
		return t, nil
	}
	if t.kind == "page" {
		t.page(ctx, page.Parse(ctx, decoded, parsed(p.URL)), format, main)
		return t, nil
	}
	if format == "links" || format == "structured" {
		return t, tools.Errorf(tools.Unsupported, "%s is of type %s; only pages have %s", shown(p.URL), t.media, format).WithHint("leave out format")
	}
	t.body = page.Clean(string(decoded))
	if f, ok := feed.Parse(decoded); ok {
		t.kind, t.meta.Title, t.meta.Description = "feed", f.Title, f.Description
		t.body = f.Markdown(ctx, parsed(p.URL))
		if f.Cut {
			t.notes = append(t.notes, "the feed has more entries")
		}
	}
	if format == "text" && (t.kind == "feed" || t.media == "text/markdown") {
		t.body = page.Plain(t.body)
	}
	return t, nil
}

// wayOut says how a file that is no text can be used.
func (t *text) wayOut() string {
	const way = "download saves it to the workspace"
	if t.kind == "document" {
		return way + ", where parse_document reads it in parts or with a password"
	}
	return way
}

// Limits of a document that a page turns out to be.
const (
	documentUnpacked = 64 << 20
	documentText     = 8 << 20
)

// document makes the text of an office document, a book or the like; read = it is one.
func (t *text) document(ctx context.Context, readers *linked.Readers, p *outbound.Page, format string) (read bool, err error) {
	limits := document.Standard()
	limits.Unpacked, limits.Text = documentUnpacked, documentText
	src := document.Source{ReaderAt: bytes.NewReader(p.Body), Size: int64(len(p.Body)), Name: path.Base(parsed(p.URL).Path)}
	if t.kind == "page" || !readers.Document(src, document.NewBudget(ctx, limits)) {
		return false, nil
	}
	t.kind = "document"
	budget := document.NewBudget(ctx, limits)
	doc, err := readers.Read(src, budget)
	if err != nil {
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		return true, &tools.Error{Code: tools.Unsupported, Msg: fmt.Sprintf("%s, of type %s with %s, cannot be read: %s", shown(p.URL), t.media, textfile.Size(src.Size), tools.Visible(err.Error())), Hint: t.wayOut(), Err: err}
	}
	t.media, t.meta.Title = doc.Format, doc.Title
	if t.body = page.Clean(doc.Markdown()); format == "text" {
		t.body = page.Clean(doc.Text())
	}
	const mostWarnings = 5
	t.notes = append(t.notes, doc.Warnings[:min(len(doc.Warnings), mostWarnings)]...)
	if more := len(doc.Warnings) - mostWarnings; more > 0 {
		t.notes = append(t.notes, textfile.Count(more, "more warning"))
	}
	if n := budget.Unread; n > 0 {
		t.notes = append(t.notes, textfile.Count(n, "page")+" without text, only images: parse_document reads the url by OCR, where tesseract is installed")
	}
	return true, nil
}

// page makes the text of a page.
func (t *text) page(ctx context.Context, p *page.Page, format string, main bool) {
	t.meta = p.Meta
	switch format {
	case "links":
		t.body = links(p)
		return
	case "structured":
		t.body = structured(ctx, p)
		return
	}
	doc := p.Whole(ctx)
	if main {
		doc = p.Main(ctx)
	}
	if t.body = doc.Markdown; format == "text" {
		t.body = page.Plain(t.body)
	}
	if doc.Note != "" {
		t.notes = append(t.notes, doc.Note)
	}
	if doc.Cut {
		t.notes = append(t.notes, "something may be missing: the page is too large to be read as a whole")
	}
}

// mostLinks is how many links of a page are listed.
const mostLinks = 500

// links lists the links of a page.
func links(p *page.Page) string {
	links, total := p.Links(mostLinks)
	var b strings.Builder
	for _, l := range links {
		fmt.Fprintf(&b, "- [%s](%s)\n", l.Text, l.Href)
	}
	if total > len(links) {
		fmt.Fprintf(&b, "%d more\n", total-len(links))
	}
	return b.String()
}

// structured returns a page in brief.
func structured(ctx context.Context, p *page.Page) string {
	data, err := json.MarshalIndent(p.Structured(ctx), "", "  ")
	if err != nil {
		return err.Error() // texts can be marshaled
	}
	return string(data)
}

// sectionsOf returns the sections of a text that answer a query best, within a number of
// characters, and how many of how many they are; "" = no section has a word of the query.
func sectionsOf(body, query string, most int) (kept, of string) {
	all := page.Sections(body)
	best := page.Best(all, query, most)
	parts := make([]string, len(best))
	for i, s := range best {
		parts[i] = strings.TrimSpace(s.Text)
	}
	return strings.Join(parts, "\n\n"), fmt.Sprintf("%d of %s", len(best), textfile.Count(len(all), "section"))
}

// shares divides a number of characters among texts, so that what short ones leave goes to the
// longer ones.
func shares(texts []string, budget int) []int {
	sizes, order := make([]int, len(texts)), make([]int, len(texts))
	for i, text := range texts {
		sizes[i], order[i] = utf8.RuneCountInString(text), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[a] - sizes[b] })
	for n, i := range order {
		sizes[i] = min(sizes[i], budget/(len(order)-n))
		budget -= sizes[i]
	}
	return sizes
}

// first returns the first characters of a text, and whether it has more.
func first(text string, most int) (string, bool) {
	for i := range text {
		if most == 0 {
			return text[:i], true
		}
		most--
	}
	return text, false
}
