// Package wording counts and changes texts.
//
// Characters are those that a reader sees (grapheme clusters): é is one in any encoding, and an
// emoji of several code points is one. In scripts without spaces each character counts as a
// word. The package imports nothing of toolcrib. Start at [Operations] and [Replace].
package wording

import (
	"cmp"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// Options are what operations need beside the text.
type Options struct {
	Pattern     *regexp.Regexp // nil = none
	Replacement string
	Literal     bool // the replacement has no groups
	Separator   *string
	Algorithm   string
	Descending  bool
	Numeric     bool
}

// MaxResult is how many bytes a result may have.
const MaxResult = 20 << 20

// ErrLarge is the error of an operation whose result would be larger by far, or which would keep
// too many matches in memory. A result that is little larger is returned.
var ErrLarge = errors.New("would become too large")

// Operation changes a text. Its error says what is wrong with the text.
type Operation func(text string, opt Options) (string, error)

// Operations returns all operations by name but [Replace], which also counts.
func Operations() map[string]Operation {
	lines := func(change func(lines []string, opt Options) []string) Operation {
		return func(text string, opt Options) (string, error) {
			body, end := strings.CutSuffix(text, "\n")
			changed := strings.Join(change(strings.Split(body, "\n"), opt), "\n")
			if end {
				changed += "\n"
			}
			return changed, nil
		}
	}
	whole := func(change func(text string) string) Operation {
		return func(text string, _ Options) (string, error) { return change(text), nil }
	}
	return map[string]Operation{
		"words": words, "upper": whole(strings.ToUpper), "lower": whole(strings.ToLower), "title": whole(title), "reverse": whole(uniseg.ReverseString),
		"trim": lines(trim), "dedent": lines(dedent), "dedupe": lines(dedupe), "sort": lines(sort),
		"extract": extract, "split": split, "join": join,
		"slug": whole(slug), "snake": whole(snake), "kebab": whole(kebab), "camel": whole(camel), "pascal": whole(pascal),
		"base64_encode": whole(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }), "base64_decode": decodeBase64,
		"url_encode": whole(func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }), "url_decode": decodeURL,
		"hex_encode": whole(func(s string) string { return hex.EncodeToString([]byte(s)) }), "hex_decode": decodeHex,
		"html_encode": whole(html.EscapeString), "html_decode": whole(html.UnescapeString),
		"hash": hash,
	}
}

// Counts are the sizes of a text.
type Counts struct{ Characters, WithoutSpaces, CodePoints, Words, Lines, Paragraphs, Bytes int }

// Count returns the sizes of a text. A last line without a newline counts.
func Count(text string) Counts {
	c := Counts{CodePoints: utf8.RuneCountInString(text), Words: len(wordsOf(text)), Bytes: len(text)}
	for g := uniseg.NewGraphemes(text); g.Next(); {
		c.Characters++
		if r := g.Runes(); !unicode.IsSpace(r[0]) {
			c.WithoutSpaces++
		}
	}
	inside := false
	for line := range strings.Lines(text) {
		c.Lines++
		blank := strings.TrimSpace(line) == ""
		if !blank && !inside {
			c.Paragraphs++
		}
		inside = !blank
	}
	return c
}

// dense reports whether a script is written without spaces between words.
func dense(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// wordsOf returns the words of a text: runs of letters, marks and digits, with apostrophes,
// hyphens and points inside, and each character of a dense script.
func wordsOf(text string) []string {
	var found []string
	start := -1
	end := func(at int) {
		if start >= 0 {
			found = append(found, text[start:at])
		}
		start = -1
	}
	for i, r := range text {
		size := utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError:
			end(i)
		case dense(r):
			end(i)
			if !unicode.IsMark(r) {
				found = append(found, text[i:i+size])
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && start >= 0 || r == '_':
			if start < 0 {
				start = i
			}
		case start >= 0 && strings.ContainsRune("'’-.,", r):
			next, _ := utf8.DecodeRuneInString(text[i+size:])
			digit := unicode.IsDigit(next)
			if inner := unicode.IsLetter(next) && r != ',' && r != '.' || digit && r != '\''; !inner || dense(next) {
				end(i)
			}
		default:
			end(i)
		}
	}
	end(len(text))
	return found
}

// words lists the words with how often they are there, the most frequent first.
func words(text string, _ Options) (string, error) {
	all := wordsOf(text)
	counts := map[string]int{}
	var order []string
	for _, w := range all {
		key := strings.ToLower(w)
		if counts[key]++; counts[key] == 1 {
			order = append(order, key)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return counts[b] - counts[a] })
	var b strings.Builder
	fmt.Fprintf(&b, "%d words, %d different", len(all), len(order))
	for _, w := range order {
		fmt.Fprintf(&b, "\n%s: %d", w, counts[w])
	}
	return b.String(), nil
}

// title writes the first letter of each word large.
func title(text string) string {
	first := true
	return strings.Map(func(r rune) rune {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\'' || r == '’'
		begins := first && letter
		if first = !letter; begins {
			return unicode.ToTitle(r)
		}
		return r
	}, text)
}

// trim takes white space off both ends of each line, and empty lines off both ends of the text.
func trim(lines []string, _ Options) []string {
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Split(strings.Trim(strings.Join(lines, "\n"), "\n"), "\n")
}

// dedent takes off the white space that all lines with text begin with.
func dedent(lines []string, _ Options) []string {
	var margin *string
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			lines[i] = ""
			continue
		}
		lead := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if margin == nil {
			margin = &lead
		}
		n := 0
		for n < len(lead) && n < len(*margin) && lead[n] == (*margin)[n] {
			n++
		}
		lead = lead[:n]
		margin = &lead
	}
	for i := range lines {
		if margin != nil {
			lines[i] = strings.TrimPrefix(lines[i], *margin)
		}
	}
	return lines
}

// dedupe keeps the first of equal lines.
func dedupe(lines []string, _ Options) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(lines, func(line string) bool {
		twice := seen[line]
		seen[line] = true
		return twice
	})
}

var leadingNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?`)
})

// sort sorts lines by their code points, or by the first number in each.
func sort(lines []string, opt Options) []string {
	compare := cmp.Compare[string]
	if opt.Numeric {
		values := map[string]*big.Rat{}
		for _, line := range lines {
			if v, ok := new(big.Rat).SetString(leadingNumber().FindString(line)); ok {
				values[line] = v
			}
		}
		compare = func(a, b string) int {
			x, y := values[a], values[b]
			switch {
			case x == nil && y == nil:
				return cmp.Compare(a, b)
			case x == nil:
				return 1
			case y == nil:
				return -1
			}
			return x.Cmp(y)
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int {
		if opt.Descending {
			a, b = b, a
		}
		return compare(a, b)
	})
	return lines
}

// dollar finds the groups of a replacement, and the escaped dollar signs, which have no name.
var (
	dollar      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\$|\$\{(\w+)\}|\$(\w+)`) })
	backslashed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\[0-9]`) })
)

var errPattern = errors.New("needs a pattern")

// Replace replaces what the pattern matches, so many times as it returns.
func Replace(text string, opt Options) (changed string, n int, err error) {
	if opt.Pattern == nil {
		return "", 0, errPattern
	}
	replace, size, groups := opt.Pattern.ReplaceAllLiteralString, len(opt.Replacement), 0
	if !opt.Literal {
		replace = opt.Pattern.ReplaceAllString
		if size, groups, err = sizes(opt); err != nil {
			return "", 0, err
		}
	}
	n, matched := matches(text, opt)
	if n > 0 && size > (MaxResult-len(text)+matched)/n || matched > 0 && groups > 8*MaxResult/matched { // no group is longer than its match
		return "", 0, ErrLarge
	}
	return replace(text, opt.Replacement), n, nil
}

// matches counts the matches of the pattern and their bytes, and keeps none.
func matches(text string, opt Options) (n, size int) {
	opt.Pattern.ReplaceAllStringFunc(text, func(match string) string {
		n++
		size += len(match)
		return ""
	})
	return n, size
}

// tooMany reports whether the matches of the pattern take too much memory when they are kept.
func tooMany(text string, opt Options) bool {
	n, _ := matches(text, opt)
	return n > 0 && 64+16*opt.Pattern.NumSubexp() > 16*MaxResult/n
}

// sizes returns the bytes of a replacement without its groups, and how many groups it has. It
// refuses one with a group that the pattern lacks, which would be empty, and one that means a
// group in another notation.
func sizes(opt Options) (size, groups int, err error) {
	if backslashed().MatchString(opt.Replacement) {
		return 0, 0, fmt.Errorf("is not changed: a group in the replacement is ${1}, not %s; literal takes the replacement as it is", backslashed().FindString(opt.Replacement))
	}
	size = len(opt.Replacement)
	for _, g := range dollar().FindAllStringSubmatch(opt.Replacement, -1) {
		name := g[1] + g[2]
		size -= len(g[0])
		if name == "" {
			size++
			continue
		}
		if n, err := strconv.Atoi(name); err == nil && n <= opt.Pattern.NumSubexp() || slices.Contains(opt.Pattern.SubexpNames(), name) {
			groups++
			continue
		}
		number := name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
		if rest := name[len(number):]; number != "" && rest != "" {
			return 0, 0, fmt.Errorf("is not changed: the pattern has no group %q; ${%s}%s is the group %s before %q", name, number, rest, number, rest)
		}
		return 0, 0, fmt.Errorf("is not changed: the pattern has no group %q; it has %d, and $$ is a dollar sign", name, opt.Pattern.NumSubexp())
	}
	return size, groups, nil
}

// extract lists what the pattern matches, or its groups, with tabs between them.
func extract(text string, opt Options) (string, error) {
	if opt.Pattern == nil {
		return "", errPattern
	}
	if tooMany(text, opt) {
		return "", ErrLarge
	}
	found := opt.Pattern.FindAllStringSubmatch(text, -1)
	var b strings.Builder
	fmt.Fprintf(&b, "%d matches", len(found))
	for _, m := range found {
		if len(m) > 1 {
			m = m[1:]
		}
		b.WriteString("\n" + strings.Join(m, "\t"))
	}
	return b.String(), nil
}

// split writes the parts between separators or matches in lines of their own.
func split(text string, opt Options) (string, error) {
	switch {
	case opt.Pattern != nil && tooMany(text, opt):
		return "", ErrLarge
	case opt.Pattern != nil:
		return strings.Join(opt.Pattern.Split(text, -1), "\n"), nil
	case opt.Separator != nil && *opt.Separator != "":
		return strings.ReplaceAll(text, *opt.Separator, "\n"), nil
	}
	return strings.Join(strings.Fields(text), "\n"), nil
}

// join writes the lines in one.
func join(text string, opt Options) (string, error) {
	separator := " "
	if opt.Separator != nil {
		separator = *opt.Separator
	}
	text = strings.TrimSuffix(text, "\n")
	if n := strings.Count(text, "\n"); n > 0 && len(separator) > (MaxResult-len(text)+n)/n {
		return "", ErrLarge
	}
	return strings.ReplaceAll(text, "\n", separator), nil
}

// parts returns the words of an identifier or a line, in lower case: parseHTTPBody is parse,
// http, body.
func parts(text string) []string {
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) || unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

func perLine(text string, change func(line string) string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = change(lines[i])
	}
	return strings.Join(lines, "\n")
}

// slug writes each line as a part of an address: without marks, in lower case, with hyphens.
func slug(text string) string {
	return perLine(text, func(line string) string {
		plain := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsMark(r), r == '\'', r == '’':
				return -1
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return ' '
		}, norm.NFKD.String(line))
		return norm.NFC.String(strings.Join(strings.Fields(plain), "-"))
	})
}

func snake(text string) string {
	return perLine(text, func(l string) string { return strings.Join(parts(l), "_") })
}

func kebab(text string) string {
	return perLine(text, func(l string) string { return strings.Join(parts(l), "-") })
}

func pascal(text string) string { return perLine(text, func(l string) string { return humps(l, 0) }) }
func camel(text string) string  { return perLine(text, func(l string) string { return humps(l, 1) }) }

func humps(line string, from int) string {
	words := parts(line)
	for i := from; i < len(words); i++ {
		words[i] = title(words[i])
	}
	return strings.Join(words, "")
}

// decoded returns bytes as a text.
func decoded(data []byte) (string, error) {
	if !utf8.Valid(data) {
		return "", fmt.Errorf("is %d bytes that are no UTF-8 text: %s", len(data), hex.EncodeToString(data[:min(len(data), 256)]))
	}
	return string(data), nil
}

// decodeBase64 takes both alphabets, with and without padding and line breaks.
func decodeBase64(text string, _ Options) (string, error) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.Join(strings.Fields(text), ""))
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return "", errors.New("is no base64")
	}
	return decoded(data)
}

func decodeURL(text string, _ Options) (string, error) {
	plain, err := url.QueryUnescape(text)
	if err != nil {
		return "", fmt.Errorf("is not URL-encoded: %w", err)
	}
	return decoded([]byte(plain))
}

func decodeHex(text string, _ Options) (string, error) {
	data, err := hex.DecodeString(strings.TrimPrefix(strings.Join(strings.Fields(text), ""), "0x"))
	if err != nil {
		return "", errors.New("is no hexadecimal text")
	}
	return decoded(data)
}

func hash(text string, opt Options) (string, error) {
	data := []byte(text)
	switch opt.Algorithm {
	case "md5":
		return fmt.Sprintf("%x", md5.Sum(data)), nil
	case "sha1":
		return fmt.Sprintf("%x", sha1.Sum(data)), nil
	case "sha512":
		return fmt.Sprintf("%x", sha512.Sum512(data)), nil
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), nil
}
