package lookup

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// rankOffset is the constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009).
const rankOffset = 60

// merge makes one list of the lists of several services, best first. Hits at the same
// normalized address are one; it keeps the longest snippet.
func merge(lists [][]Hit, limit int) []Hit {
	type scored struct {
		Hit
		score float64
	}
	var all []*scored
	byKey := map[string]*scored{}
	for _, list := range lists {
		seen := map[string]bool{}
		rank := 0
		for _, h := range list {
			key := h.key()
			if seen[key] {
				continue
			}
			seen[key] = true
			rank++
			s := byKey[key]
			if s == nil {
				s = &scored{Hit: h}
				s.Backends = nil
				byKey[key] = s
				all = append(all, s)
			}
			s.score += 1 / float64(rankOffset+rank)
			s.Backends = append(s.Backends, h.Backends...)
			if len(h.Snippet) > len(s.Snippet) {
				s.Snippet = h.Snippet
			}
			s.Title, s.Date = cmp.Or(s.Title, h.Title), cmp.Or(s.Date, h.Date)
		}
	}
	slices.SortStableFunc(all, func(a, b *scored) int { return cmp.Compare(b.score, a.score) })
	hits := make([]Hit, 0, min(limit, len(all)))
	for _, s := range all[:min(limit, len(all))] {
		hits = append(hits, s.Hit)
	}
	return hits
}

// key is the same for hits that are the same.
func (h Hit) key() string { return normal(cmp.Or(h.Image.URL, h.URL)) }

// tracking are parameters of addresses that only say where a reader came from.
var tracking = []string{"gclid", "fbclid", "msclkid", "dclid", "yclid", "igshid", "mc_cid", "mc_eid", "ref_src", "srsltid"}

// normal returns an address without what does not change the page that it leads to: the
// scheme, www., a default port, a last slash, the fragment and parameters of campaigns.
func normal(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" {
		return address
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	var kept []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		name = strings.ToLower(name)
		if pair != "" && !strings.HasPrefix(name, "utm_") && !slices.Contains(tracking, name) {
			kept = append(kept, pair)
		}
	}
	slices.Sort(kept)
	key := host + strings.TrimSuffix(u.EscapedPath(), "/")
	if len(kept) > 0 {
		key += "?" + strings.Join(kept, "&")
	}
	return key
}

// admits reports whether the domains of the query let an address be a hit.
func (q Query) admits(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	in := func(domain string) bool {
		domain = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(domain, "*."), "www."))
		return host == domain || strings.HasSuffix(host, "."+domain)
	}
	return (len(q.Include) == 0 || slices.ContainsFunc(q.Include, in)) && !slices.ContainsFunc(q.Exclude, in)
}

// operators returns the text of the query with its domains as operators, for services that
// have no parameters for these.
func (q Query) operators() string {
	text := q.Text
	if len(q.Include) > 0 {
		sites := make([]string, len(q.Include))
		for i, domain := range q.Include {
			sites[i] = "site:" + domain
		}
		if text += " " + strings.Join(sites, " OR "); len(sites) > 1 {
			text = q.Text + " (" + strings.Join(sites, " OR ") + ")"
		}
	}
	for _, domain := range q.Exclude {
		text += " -site:" + domain
	}
	return text
}
