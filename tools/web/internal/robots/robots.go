// Package robots reads what a site asks of programs that fetch its pages: the rules of
// robots.txt by RFC 9309, and sitemaps.
//
// It fetches nothing and imports nothing of toolcrib. Start at [Parse] and
// [File.Allowed]; [ParseSitemap] reads a sitemap.
package robots

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxSize is how much of a file counts, as the RFC allows (2.5). A reader gives [Parse] a byte
// more of a longer one, so that the line that is cut off does not count.
const MaxSize = 500 << 10

// The bounds of a file: a delay counts for no more than maxDelay.
const (
	maxDelay    = 10 * time.Second
	maxSitemaps = 100
)

// File is a parsed robots.txt. It does not change and is safe for concurrent use.
type File struct {
	groups   []group
	sitemaps []string
}

// group is the rules of the agents that its lines name.
type group struct {
	agents []string // in lower case; * is all
	rules  []rule
	delay  time.Duration
}

type rule struct {
	pattern string // as normal writes paths
	open    string // the same, as opened writes it
	allow   bool
	line    int
	text    string // as the file has it
}

// Verdict says whether an address may be fetched.
type Verdict struct {
	Allowed bool
	// Line is the number of the line that decides and Text the line, 0 and "" if none does.
	Line int
	Text string
}

// Parse reads a file. Any bytes are a file; lines that are not understood do not count.
func Parse(body []byte) *File {
	if len(body) > MaxSize {
		body = body[:MaxSize]
		// A line that is cut off might say something else.
		body = body[:max(bytes.LastIndexAny(body, "\r\n"), 0)]
	}
	text := strings.TrimPrefix(string(body), "\ufeff")
	f := &File{}
	var open *group // takes lines
	naming := false // the last line that counts named an agent
	number := 0
	for len(text) > 0 {
		number++
		line := text
		if end := strings.IndexAny(text, "\r\n"); end >= 0 {
			line = text[:end]
			if strings.HasPrefix(text[end:], "\r\n") {
				end++
			}
			text = text[end+1:]
		} else {
			text = ""
		}
		key, value, ok := strings.Cut(withoutComment(line), ":")
		if !ok {
			continue
		}
		key, value = strings.ToLower(strings.Trim(key, " \t")), strings.Trim(value, " \t")
		switch key {
		case "user-agent":
			if !naming {
				f.groups = append(f.groups, group{})
				open = &f.groups[len(f.groups)-1]
			}
			naming = true
			open.agents = append(open.agents, agentOf(value))
		case "allow", "disallow":
			naming = false
			if open != nil && value != "" {
				open.rules = append(open.rules, newRule(value, key == "allow", number, strings.TrimSpace(line)))
			}
		case "crawl-delay":
			if seconds, err := strconv.ParseFloat(value, 64); err == nil && open != nil && seconds > 0 {
				open.delay = maxDelay
				if seconds < maxDelay.Seconds() {
					open.delay = time.Duration(seconds * float64(time.Second))
				}
			}
		case "sitemap": // belongs to no group, and ends none
			if len(f.sitemaps) < maxSitemaps && value != "" {
				f.sitemaps = append(f.sitemaps, value)
			}
		}
	}
	return f
}

func newRule(value string, allow bool, number int, text string) rule {
	body, end := strings.CutSuffix(value, "$")
	pattern := strings.ReplaceAll(normal(body), "$", "%24") // only at the end it is special
	if end {
		pattern += "$"
	}
	return rule{pattern, opened(pattern), allow, number, text}
}

func withoutComment(line string) string {
	line, _, _ = strings.Cut(line, "#")
	return line
}

// agentOf returns the product token that a value begins with, in lower case.
func agentOf(value string) string {
	if strings.HasPrefix(value, "*") && (len(value) == 1 || value[1] == ' ' || value[1] == '\t') {
		return "*"
	}
	return Token(value)
}

// Token returns the product token that a user agent begins with, in lower case: the letters,
// - and _ before the first other character.
func Token(agent string) string {
	end := strings.IndexFunc(agent, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	})
	if end >= 0 {
		agent = agent[:end]
	}
	return strings.ToLower(agent)
}

// groupOf returns the rules for an agent: of all groups that name it, or else of those for
// all.
func (f *File) groupOf(agent string) group {
	var merged group
	for _, name := range []string{Token(agent), "*"} {
		found := false
		for _, g := range f.groups {
			for _, own := range g.agents {
				if own == name && own != "" {
					found = true
					merged.rules = append(merged.rules, g.rules...)
					merged.delay = max(merged.delay, g.delay)
					break
				}
			}
		}
		if found {
			return merged
		}
	}
	return merged
}

// Allowed says whether an agent may fetch a path with its query, as it is encoded in an
// address. The longest pattern that matches decides, and of equals one that allows.
// /robots.txt may always be fetched.
func (f *File) Allowed(agent, path string) Verdict {
	if path == "" {
		path = "/"
	}
	path = strings.NewReplacer("*", "%2A", "$", "%24").Replace(normal(path))
	open := opened(path)
	v := Verdict{Allowed: true}
	if path == "/robots.txt" {
		return v
	}
	longest := -1
	for _, r := range f.groupOf(agent).rules {
		n := len(r.pattern)
		if n < longest || n == longest && (v.Allowed || !r.allow) || !matches(r.pattern, path) && !matches(r.open, open) {
			continue
		}
		longest = n
		v = Verdict{r.allow, r.line, r.text}
	}
	return v
}

// Delay returns how long an agent is asked to wait between two requests, 10 seconds at most.
func (f *File) Delay(agent string) time.Duration { return f.groupOf(agent).delay }

// Sitemaps returns the addresses of sitemaps that the file names.
func (f *File) Sitemaps() []string { return f.sitemaps }

// matches reports whether a pattern matches the beginning of a path: * is any characters,
// and $ at the end is the end of the path. It takes the first place for each piece between
// stars, which is enough, and the last place for a last piece that must be at the end.
func matches(pattern, path string) bool {
	pattern, whole := strings.CutSuffix(pattern, "$")
	pieces := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(path, pieces[0])
	if !ok {
		return false
	}
	if len(pieces) == 1 {
		return !whole || rest == ""
	}
	last := len(pieces) - 1
	for _, piece := range pieces[1:last] {
		_, after, ok := strings.Cut(rest, piece)
		if !ok {
			return false
		}
		rest = after
	}
	if whole {
		return strings.HasSuffix(rest, pieces[last])
	}
	return strings.Contains(rest, pieces[last])
}

const hexDigits = "0123456789ABCDEF"

// normal writes a path or pattern in the one form in which they are compared: characters
// beyond ASCII and those that addresses cannot have are encoded, those that need no encoding
// are not, and the digits of codes are capital. A code of another character is not that
// character: %2A is no star.
func normal(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool { return r == '%' || r >= utf8.RuneSelf || r <= ' ' }) {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		coded := false
		if c == '%' && i+2 < len(path) {
			if code, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				c, coded = byte(code), true
				i += 2
			}
		}
		if coded && !unreserved(c) || c >= utf8.RuneSelf || c <= ' ' || c == 0x7f {
			b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// delimiters are what addresses are parted by, which may be encoded in a query or not.
var delimiters = strings.NewReplacer("%2F", "/", "%3A", ":", "%3F", "?", "%40", "@", "%5B", "[", "%5D", "]")

// opened writes a normal path with the delimiters in its query not encoded.
func opened(path string) string {
	head, query, ok := strings.Cut(path, "?")
	if !ok {
		return path
	}
	return head + "?" + delimiters.Replace(query)
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}
