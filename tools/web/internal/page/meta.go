package page

import (
	"encoding/json"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Meta is what a page says of itself. A field that it does not say is "".
type Meta struct {
	Title       string
	Byline      string
	Date        string // as the page writes it, of its publication or else of its last change
	Language    string
	Description string
	Site        string
	Canonical   string // its preferred address
	Feed        string // the address of its feed
	kind        kind
}

// kind is what sort of page it says to be.
type kind int

const (
	kindUnknown kind = iota
	kindArticle
	kindThing // a product, a recipe, a forum
)

// maxMeta bounds a field, and maxData what is read of data for machines.
const (
	maxMeta = 500
	maxData = 512 << 10
)

// metaReader collects what a page says in several ways, each with a rank: the least counts.
type metaReader struct {
	fields map[string]string
	ranks  map[string]int
	base   *url.URL
	kinds  map[kind]bool
}

func metaOf(root *html.Node, base *url.URL) Meta {
	m := metaReader{map[string]string{}, map[string]int{}, base, map[kind]bool{}}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			m.element(n)
		}
	}
	title := m.fields["title"]
	if m.ranks["title"] > 1 { // of the title of the document, not made for readers
		title = withoutSite(title, m.fields["site"], m.fields["heading"])
	}
	out := Meta{
		Title: title, Byline: m.fields["byline"], Date: m.fields["date"], Language: m.fields["language"],
		Description: m.fields["description"], Site: m.fields["site"], Canonical: m.fields["canonical"], Feed: m.fields["feed"],
	}
	switch {
	case m.kinds[kindThing]:
		out.kind = kindThing
	case m.kinds[kindArticle]:
		out.kind = kindArticle
	}
	return out
}

// say sets a field unless a better one is there.
func (m *metaReader) say(field, value string, rank int) {
	value = collapse(clean(value))
	if old, ok := m.ranks[field]; value == "" || ok && old <= rank {
		return
	}
	if len(value) > maxMeta {
		value = strings.ToValidUTF8(value[:maxMeta], "") + "…"
	}
	m.fields[field], m.ranks[field] = value, rank
}

func (m *metaReader) element(n *html.Node) {
	switch n.DataAtom {
	case atom.Html:
		m.say("language", attr(n, "lang")+attr(n, "xml:lang"), 0)
	case atom.Title:
		if n.Namespace == "" {
			m.say("title", textOf(n), 2)
		}
	case atom.H1:
		if text := textOf(n); len(text) < maxMeta {
			m.say("heading", text, 0)
			m.say("title", text, 3)
		}
	case atom.Meta:
		m.meta(strings.ToLower(attr(n, "name")+attr(n, "property")+attr(n, "http-equiv")), attr(n, "content"))
		m.property(n, attr(n, "content"))
	case atom.Link:
		for rel := range strings.FieldsSeq(strings.ToLower(attr(n, "rel"))) {
			switch {
			case rel == "canonical":
				m.say("canonical", resolve(m.base, attr(n, "href")), 0)
			case rel == "alternate" && (strings.Contains(attr(n, "type"), "rss") || strings.Contains(attr(n, "type"), "atom") || strings.Contains(attr(n, "type"), "feed+json")):
				m.say("feed", resolve(m.base, attr(n, "href")), 0)
			}
		}
		m.property(n, attr(n, "href"))
	case atom.Time:
		if value := attr(n, "datetime"); value != "" {
			rank := 5
			if has(n, "pubdate") || strings.Contains(attr(n, "itemprop"), "datePublished") {
				rank = 2
			}
			m.say("date", value, rank)
		}
	case atom.Script:
		if strings.EqualFold(strings.TrimSpace(attr(n, "type")), "application/ld+json") {
			if text := textOf(n); len(text) <= maxData {
				m.data(text)
			}
		}
	case atom.A:
		if strings.Contains(attr(n, "rel"), "author") {
			m.say("byline", textOf(n), 4)
		}
		m.property(n, textOf(n))
	default:
		m.property(n, "")
	}
}

// property reads an item of microdata.
func (m *metaReader) property(n *html.Node, value string) {
	if t := attr(n, "itemtype"); t != "" {
		m.schemaType(t[strings.LastIndexByte(t, '/')+1:])
	}
	prop := attr(n, "itemprop")
	if prop == "" && n.DataAtom != atom.Meta {
		if class := attr(n, "class"); class == "byline" || class == "author" || class == "p-author" {
			if text := textOf(n); len(text) < 100 {
				m.say("byline", strings.TrimPrefix(collapse(text), "By "), 6)
			}
		}
		return
	}
	switch prop {
	case "datePublished":
		m.say("date", value+attr(n, "datetime"), 3)
	case "author":
		if value == "" {
			value = textOf(n)
		}
		if len(value) < 200 {
			m.say("byline", value, 3)
		}
	}
}

// meta reads a meta element by its name.
func (m *metaReader) meta(name, content string) {
	switch name {
	case "og:title":
		m.say("title", content, 0)
	case "twitter:title", "dc.title", "dcterms.title", "citation_title":
		m.say("title", content, 1)
	case "author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author", "sailthru.author":
		if !strings.Contains(content, "://") {
			m.say("byline", content, 1)
		}
	case "article:published_time", "datepublished", "og:published_time":
		m.say("date", content, 0)
	case "date", "dc.date", "dc.date.issued", "dcterms.created", "citation_publication_date", "citation_date", "pubdate", "parsely-pub-date", "publishdate", "publish-date":
		m.say("date", content, 3)
	case "last-modified", "article:modified_time", "og:updated_time", "dcterms.modified":
		m.say("date", content, 6)
	case "content-language":
		m.say("language", content, 1)
	case "og:locale":
		m.say("language", strings.ReplaceAll(content, "_", "-"), 2)
	case "og:description":
		m.say("description", content, 1)
	case "description":
		m.say("description", content, 0)
	case "twitter:description", "dc.description":
		m.say("description", content, 2)
	case "og:site_name":
		m.say("site", content, 0)
	case "application-name":
		m.say("site", content, 1)
	case "og:url":
		m.say("canonical", resolve(m.base, content), 1)
	case "og:type":
		switch content = strings.ToLower(content); {
		case content == "article" || content == "blog" || content == "news":
			m.kinds[kindArticle] = true
		case strings.Contains(content, "product") || strings.Contains(content, "recipe"):
			m.kinds[kindThing] = true
		}
	}
}

func (m *metaReader) schemaType(name string) {
	switch {
	case strings.HasSuffix(name, "Article") || name == "BlogPosting" || name == "Report":
		m.kinds[kindArticle] = true
	case thing(name) && name != "ItemList": // lists stand on all kinds of page
		m.kinds[kindThing] = true
	}
}

// data reads JSON-LD. What is not JSON says nothing.
func (m *metaReader) data(text string) {
	var value any
	if json.Unmarshal([]byte(strings.TrimSpace(text)), &value) == nil {
		m.item(value, 0)
	}
}

func (m *metaReader) item(value any, depth int) {
	if depth > 4 {
		return
	}
	if list, ok := value.([]any); ok {
		for _, v := range list {
			m.item(v, depth+1)
		}
		return
	}
	item, ok := value.(map[string]any)
	if !ok {
		return
	}
	m.item(item["@graph"], depth+1)
	m.item(item["mainEntity"], depth+1)
	for _, t := range texts(item["@type"]) {
		m.schemaType(t)
		switch {
		case strings.HasSuffix(t, "Article") || t == "BlogPosting" || t == "Report" || t == "Recipe":
			m.say("title", first(item["headline"]), 1)
			m.say("byline", strings.Join(texts(item["author"]), ", "), 0)
			m.say("date", first(item["datePublished"]), 1)
			m.say("description", first(item["description"]), 3)
			m.say("language", first(item["inLanguage"]), 3)
		case t == "WebSite":
			m.say("site", first(item["name"]), 2)
		case t == "Product":
			m.say("title", first(item["name"]), 1)
			m.say("description", first(item["description"]), 3)
		}
	}
}

// texts returns the texts of a value: itself, the names of items, or those of a list.
func texts(value any) (out []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v[:min(len(v), 10)] {
			out = append(out, texts(e)...)
		}
	case map[string]any:
		return texts(v["name"])
	}
	return out
}

func first(value any) string {
	if all := texts(value); len(all) > 0 {
		return all[0]
	}
	return ""
}

// withoutSite takes the name of the site off a title: what is left is the heading of the
// page, or what stands before the name.
func withoutSite(title, site, heading string) string {
	for _, sep := range []string{" | ", " – ", " — ", " - ", " :: ", " · ", " » "} {
		i := strings.LastIndex(title, sep)
		if i < 0 {
			continue
		}
		head, tail := title[:i], title[i+len(sep):]
		switch {
		case site != "" && strings.EqualFold(tail, site), heading != "" && strings.EqualFold(head, heading):
			return head
		case site != "" && strings.EqualFold(head, site), heading != "" && strings.EqualFold(tail, heading):
			return tail
		}
	}
	return title
}
