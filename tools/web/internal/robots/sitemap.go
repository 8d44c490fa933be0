package robots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
)

// Sitemap is a list of addresses of a site.
type Sitemap struct {
	// Pages are addresses of pages, and Maps those of more sitemaps.
	Pages, Maps []string
	// Cut reports whether the list goes on behind the bounds.
	Cut bool
}

// The bounds of a sitemap: those of sitemaps.org for addresses, and of its elements' depth.
const (
	maxAddresses = 50_000
	maxAddress   = 2048
	maxDepth     = 16
)

// errDTD says that a sitemap declares entities or the like.
var errDTD = errors.New("the sitemap has a document type declaration, which is not read")

// ParseSitemap reads a sitemap in UTF-8: a urlset, a sitemapindex or a list of lines. What
// is well-formed before an error counts; an error is returned if that is nothing.
func ParseSitemap(text []byte) (Sitemap, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var m Sitemap
	if trimmed := bytes.TrimSpace(text); len(trimmed) == 0 || trimmed[0] != '<' {
		for line := range strings.Lines(string(text)) {
			m.add(&m.Pages, line)
		}
		return m, nil
	}
	err := m.read(text)
	if len(m.Pages)+len(m.Maps) > 0 && !errors.Is(err, errDTD) {
		err = nil
	}
	return m, err
}

func (m *Sitemap) read(text []byte) error {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	var path []string
	var loc strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.Directive:
			if bytes.HasPrefix(bytes.ToUpper(t), []byte("DOCTYPE")) {
				return errDTD
			}
		case xml.StartElement:
			if len(path) == maxDepth {
				return errors.New("the sitemap is nested too deep")
			}
			path = append(path, t.Name.Local)
			loc.Reset()
		case xml.CharData:
			if loc.Len()+len(t) <= maxAddress+100 {
				loc.Write(t)
			}
		case xml.EndElement:
			switch strings.Join(path, "/") {
			case "urlset/url/loc":
				m.add(&m.Pages, loc.String())
			case "sitemapindex/sitemap/loc":
				m.add(&m.Maps, loc.String())
			}
			if len(path) > 0 {
				path = path[:len(path)-1]
			}
			loc.Reset()
		}
		if m.Cut {
			return nil
		}
	}
}

// add adds an address of the web.
func (m *Sitemap) add(list *[]string, address string) {
	address = strings.TrimSpace(address)
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(address) > maxAddress:
	case len(*list) >= maxAddresses:
		m.Cut = true
	default:
		*list = append(*list, address)
	}
}
