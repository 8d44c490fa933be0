package secrets

import (
	"regexp"
	"strings"
	"sync"
)

var (
	given = later(`([A-Za-z0-9_$][A-Za-z0-9_.\-]*)(["'\]\\]*[ \t]*(?:=>|:=|===?|\+=|=|:)[ \t]*)`)
	// A user and a password, or a token as the user; the last @ of the word ends it.
	address = later(`([A-Za-z][A-Za-z0-9+.\-]*)://([^\s"'<>` + "`" + `]*)@`)
	// Words before a secret, and a pattern that the text must have too.
	follows = []struct {
		word    string // in lower case; the text must have it
		before  func() *regexp.Regexp
		context func() *regexp.Regexp
	}{
		{word: "login", before: later(`(?i)\b(?:password|passwd|account)[ \t\n]+`), context: later(`(?i)\b(?:machine|login|default)\b`)}, // netrc
		{word: "password", before: later(`(?i)\bpassword\s+["']`)},                                                                       // SQL
		{word: "identified", before: later(`(?i)\bidentified(?:\s+with\s+\S+)?\s+(?:by|as)(?:\s+password)?\s+["']`)},
		{word: "user ", before: later(`(?im)^[ \t]*user[ \t]+\S+[ \t]+`)}, // of FTP
		{word: "bearer", before: later(`(?i)\b(?:bearer|basic)[ \t]+`), context: later(`(?i)authorization|bearer `)},
		{word: "spawn", before: later(`\bsend[ \t]+(?:-\S+[ \t]+)*["']`)}, // of expect
		{word: "pass ", before: later(`(?im)^[ \t]*pass[ \t]+`)},          // of FTP and POP
		{word: "auth ", before: later(`(?im)^[ \t]*auth[ \t]+`)},          // of redis
	}
)

// later returns an expression that is compiled when it is first needed: all of them would take
// a large part of the time to start.
func later(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// Text returns the secrets of running text: values with names of secrets, passwords in
// URLs, netrc files and SQL.
func Text(text string) []Span { return inText(text, false) }

// inText searches running text, or a program, in which only quoted values count: others are
// expressions.
func inText(text string, program bool) (spans []Span) {
	add := func(s Span) {
		if s.From < s.To && !empty(text[s.From:s.To]) {
			spans = append(spans, s)
		}
	}
	if strings.ContainsAny(text, "=:") {
		inGiven(text, program, add)
		inAddresses(text, add)
	}
	lower := strings.ToLower(text)
	for _, f := range follows {
		if !strings.Contains(lower, f.word) || f.context != nil && !f.context().MatchString(text) {
			continue
		}
		past := 0
		for _, at := range f.before().FindAllStringIndex(text, -1) {
			end := at[1]
			if at[0] < past {
				continue
			}
			past = end
			if q := text[end-1]; q == '\'' || q == '"' {
				add(Span{end, closing(text, end, string(q))})
			} else if !program {
				s := value(text, end, "=", "", false)
				add(s)
				past = s.To
			}
		}
	}
	return spans
}

// inGiven finds the values of names of secrets.
func inGiven(text string, program bool, add func(Span)) {
	past := 0
	for _, at := range given().FindAllStringSubmatchIndex(text, -1) {
		if at[2] < past || strings.HasPrefix(text[at[5]:], "//") {
			continue
		}
		name, sign := text[at[2]:at[3]], text[at[4]:at[5]]
		is := Name(strings.TrimLeft(name, "$"))
		if begin := strings.TrimRight(text[:at[2]], "-"); len(begin) < at[2] {
			is = option(text[len(begin):at[3]])
		}
		if is {
			s := value(text, at[5], sign, name, program)
			add(s)
			past = s.To
		}
	}
}

// inAddresses finds the passwords in URLs, and tokens as the user.
func inAddresses(text string, add func(Span)) {
	if !strings.Contains(text, "://") {
		return
	}
	for _, at := range address().FindAllStringSubmatchIndex(text, -1) {
		user, password, both := strings.Cut(text[at[4]:at[5]], ":")
		scheme := strings.ToLower(text[at[2]:at[3]])
		switch {
		case both:
			add(Span{at[5] - len(password), at[5]})
		case strings.HasPrefix(scheme, "http") && user != "git" && !strings.Contains(user, "/"):
			add(Span{at[4], at[5]})
		}
	}
}

// value returns the value after a sign.
func value(text string, at int, sign, name string, program bool) Span {
	begin := at
	for begin < len(text) && text[begin] == '\\' {
		begin++
	}
	if begin < len(text) && strings.IndexByte("\"'`", text[begin]) >= 0 {
		return Span{begin + 1, closing(text, begin+1, text[at:begin+1])}
	}
	if program {
		return Span{}
	}
	line := strings.Contains(sign, ":") && !strings.Contains(sign, "=") && (strings.HasSuffix(sign, " ") || strings.Contains(name, "-") || strings.EqualFold(name, "cookie") || strings.EqualFold(name, "authorization"))
	for end := at; ; end++ {
		switch {
		case end == len(text), text[end] == '\n', text[end] == '\r',
			line && strings.IndexByte("\"'`", text[end]) >= 0,
			!line && (text[end] == ' ' || text[end] == '\t'):
			return Span{at, end}
		}
	}
}

// closing returns the end of a quoted value, given its quote with the backslashes before
// it: the same quote, or the end of the text.
func closing(text string, at int, quote string) int {
	for i := at; i < len(text); i++ {
		if strings.HasPrefix(text[i:], quote) {
			return i
		}
		if text[i] == '\\' && len(quote) == 1 {
			i++
		}
	}
	return len(text)
}
