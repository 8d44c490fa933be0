package change

import (
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
)

// Models sometimes write "// ... rest of the code unchanged" instead of repeating the text
// that they mean to keep; that text would be lost. Only a whole line, or the comment at its
// end, counts as such a placeholder, never a part of a sentence. With an ellipsis it must be
// exactly a known phrase; without one it must be a comment of a single line that says what
// stays.

// refusePlaceholder refuses a new text with a placeholder that the old one does not have. name
// is the path; its extension distinguishes prose from code.
func refusePlaceholder(name, text string, old func() string) error {
	var known map[string]bool
	for number, line := range placeholders(name, text) {
		if known == nil {
			known = map[string]bool{}
			for l := range strings.Lines(old()) {
				known[strings.TrimSpace(l)] = true
			}
		}
		if !known[strings.TrimSpace(line)] {
			return tools.Errorf(tools.InvalidArgument, "%s: line %d of the new text replaces text that would be lost: %s",
				textfile.Path(name), number, textfile.Visible(textfile.Cut(strings.TrimSpace(line), 0, 0, 200))).
				WithHint("write the text itself, or use edit_file to change only a part; a line that is really meant can be added with apply_patch")
		}
	}
	return nil
}

// placeholders returns the lines of a text that are placeholders, trimmed, with their
// numbers from 1.
func placeholders(name, text string) iter.Seq2[int, string] {
	prose := slices.Contains(proseEndings[:], strings.ToLower(path.Ext(name)))
	return func(yield func(int, string) bool) {
		inCode, before, number := false, "", 0
		for line, after := range neighbours(text) {
			number++
			if prose && (strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")) {
				inCode = !inCode
			}
			if !inCode && isPlaceholder(line, before, after, prose) && !yield(number, line) {
				return
			}
			before = line
		}
	}
}

// neighbours yields each line, trimmed, with the one after it.
func neighbours(text string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		line, text, more := strings.Cut(text, "\n")
		line = strings.TrimSpace(line)
		for {
			after, rest, evenMore := strings.Cut(text, "\n")
			after = strings.TrimSpace(after)
			if !yield(line, after) || !more {
				return
			}
			line, text, more = after, rest, evenMore
		}
	}
}

// proseEndings are of files in which "#" is a heading and "*" an item, and whose
// code blocks may show a placeholder.
var proseEndings = [...]string{".md", ".mdx", ".markdown", ".txt", ".rst", ".adoc", ".org", ".tex"}

// longestPlaceholder is the length, in bytes, above which a line is no placeholder.
const longestPlaceholder = 200

func isPlaceholder(line, before, after string, prose bool) bool {
	dots := strings.Contains(line, "...") || strings.Contains(line, "…")
	text, mark := comment(line, prose)
	if mark == "" && !dots && !strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "(") {
		return false
	}
	if mark != "" && len(text) > longestPlaceholder || !mayStand(text) {
		return false
	}
	phrase, leads, trails := ellipsis(text)
	switch {
	case mark == "" && !prose && dots && inlineComment().MatchString(line):
		phrase, _, _ = ellipsis(inlineComment().FindStringSubmatch(line)[1])
		return elided().MatchString(phrase)
	case mark == "":
		bracketed := strings.HasPrefix(line, "[") || strings.HasPrefix(line, "(")
		sure := leads && trails || bracketed && (leads || trails || statedBare().MatchString(phrase))
		return sure && bareElided().MatchString(phrase)
	case leads && elided().MatchString(phrase), trails && trailing().MatchString(phrase), otherTongue().MatchString(phrase):
		return true
	case phrase == "unchanged":
		return mark == "<!--" || mark == "{/*"
	case mark[0] != '<' && mark[0] != '{' && (strings.HasPrefix(before, mark) || strings.HasPrefix(after, mark)):
		return false // a part of a longer comment
	}
	return stated().MatchString(phrase)
}

// mayStand reports whether a text may be a placeholder: it has one of the words that every
// placeholder has, or is not all ASCII. It is a cheap check before the regular expressions.
func mayStand(text string) bool {
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z' {
			i++
		}
		switch strings.ToLower(text[start:i]) {
		case "rest", "remainder", "remain", "remains", "remaining", "existing", "other", "previous", "original", "current", "same",
			"unchanged", "unmodified", "untouched", "intact", "as", "omitted", "truncated", "elided", "shown", "change", "changes":
			return true
		}
		if i < len(text) && text[i] >= utf8.RuneSelf && !strings.HasPrefix(text[i:], "…") {
			return true
		}
		if i == start {
			i++
		}
	}
	return false
}

// comment returns the text of a line that is a comment, and the mark that makes it
// one, "" where it is none.
func comment(line string, prose bool) (text, mark string) {
	for _, pair := range [...][2]string{
		{"<!--", "-->"}, {"{/*", "*/}"}, {"/*", "*/"}, {"(*", "*)"}, {"{{!", "}}"}, {"{#", "#}"}, {"<%", "%>"}, {"{-", "-}"}, {"--[[", "]]"},
	} {
		if inner, ok := strings.CutPrefix(line, pair[0]); ok && (!prose || pair[0] == "<!--") {
			return strings.Trim(strings.TrimSuffix(inner, pair[1]), "-* \t"), pair[0]
		}
	}
	if prose {
		return line, ""
	}
	for _, mark := range [...]string{"//", "#", "--", ";", "%", "*", "REM ", "'", "!"} {
		if inner, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimLeft(inner, mark+" \t"), mark
		}
	}
	return line, ""
}

// ellipsis returns the bare phrase of a comment in lower case, and whether an
// ellipsis precedes or follows it.
func ellipsis(text string) (phrase string, leads, trails bool) {
	phrase = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for {
		was := phrase
		phrase = strings.Trim(phrase, " []()<>{}-=*_`:;,!")
		for _, dots := range [...]string{"...", "…"} {
			if rest, ok := strings.CutPrefix(phrase, dots); ok {
				phrase, leads = strings.TrimLeft(rest, "."), true
			}
			if rest, ok := strings.CutSuffix(phrase, dots); ok {
				phrase, trails = strings.TrimRight(rest, "."), true
			}
		}
		if phrase == was {
			return strings.TrimSuffix(phrase, "."), leads, trails
		}
	}
}

// The phrases are made of what stays, and of the state that it stays in.
const (
	article  = `(?:the |your |my |this |its |all |all the |all other )?`
	codeNoun = `(?:code|codebase|implementations?|methods?|functions?|class|classes|components?|module|script|logic)`
	anyNoun  = `(?:` + codeNoun + `|file|contents?|document|page|text|lines|imports?|body|config|configuration|styles|css|html|` +
		`markup|template|query|schema|tests?|test cases|fields|properties|handlers|routes|helpers|definitions|declarations|section|sections|` +
		`program|source|jsx|statements|entries|rules|items|data|rows|dependencies|options|settings)`
	verb  = `(?:(?:is|are|remains?|stays?|stay|kept|keeps|left|continues?|goes) )?`
	state = `(?:unchanged|unmodified|untouched|intact|(?:exactly )?the same(?: as (?:before|above|the original))?|same as (?:before|above|the original|original)|` +
		`as[ -]is|as before|as above|as it was|omitted(?: for (?:brevity|clarity))?|truncated(?: for brevity)?|elided|not shown|no changes?)`
	restOf = `(?:rest|remainder) of ` + article + `(?:[\w.]+ ){0,2}?`
)

// expression compiles a regular expression when it is first used: those below take some
// milliseconds, which every start of the program would pay.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var (
	// elided matches the text after an ellipsis, or between two.
	elided = expression(`^(?:(?:keep |include |insert )?` + article + `(?:` +
		restOf + anyNoun + `|(?:existing|other|remaining|unchanged|same|previous|original|current) (?:[\w.]+ ){0,2}?` + anyNoun + `|` +
		anyNoun + ` ` + verb + state + `|rest|remainder)(?:,? (?:` + verb + state + `|here|goes here|continues?))?(?: for brevity)?` +
		`|(?:everything else )?` + verb + state + `)$`)
	// trailing matches the text before an ellipsis, if there is none in front.
	trailing = expression(`^(?:keep |include |insert )?` + article + `(?:` +
		restOf + anyNoun + `|existing (?:[\w.]+ ){0,1}?(?:` + codeNoun + `|imports|content|styles|tests)|(?:other|remaining|previous|original|same|unchanged) ` + codeNoun +
		`)(?:,? (?:` + verb + state + `|here|goes here|continues?))?$`)
	// stated matches text that needs no ellipsis: it says that code stays.
	stated = expression(`^(?:(?:keep )?` + article + `(?:` + restOf + codeNoun + ` ` + verb + state + `|` +
		restOf + anyNoun + ` (?:remains? |stays? |left )?` + state + `|` + restOf + codeNoun + ` (?:goes )?here` +
		`|(?:existing|other|remaining|previous|original) (?:` + codeNoun + `|imports) ` + verb + state +
		`|existing (?:code|implementation|methods|functions) (?:goes )?here` +
		`|(?:code|implementation|method body|function body|rest|everything else) (?:remains? |stays? |is )?` + state + `)` +
		`|keep (?:the |your |all )?(?:existing (?:code|methods|functions|implementation)|` + restOf + codeNoun + `)` +
		`|same (?:code|implementation) as (?:before|above|the original))$`)
	// bareElided and statedBare are for lines that are not comments.
	bareElided = expression(`^` + article + `(?:` + restOf + anyNoun + `|(?:existing|remaining|other|unchanged|previous|original) ` + anyNoun + `|` +
		codeNoun + ` ` + verb + state + `)(?:,? (?:` + verb + state + `|here|goes here))?$`)
	statedBare = expression(` ` + state + `$`)
	// inlineComment finds a comment with an ellipsis after code without quotes.
	inlineComment = expression("^[^\"'`]*?[^\"'`\\s][^\"'`]*?(?://|/\\*|<!--|# )\\s*((?:\\.{3}|…).*?)(?:\\*/|-->)?[\\s})\\];,]*$")
	// otherTongue matches placeholders in other languages than English.
	otherTongue = expression(`^(?:` +
		`(?:其余|其他|其它|剩余|余下|现有|原有|其餘|剩餘)的?(?:代码|内容|部分|方法|函数|逻辑|实现|程式碼|內容)(?:保持)?(?:不变|相同|省略|同上|一致|不變)|` +
		`(?:此处|这里)?省略.{0,8}代码|代码(?:保持不变|省略|不变)|` +
		`(?:残り|以下|その他|既存)の(?:コード|部分|メソッド|処理)(?:は|を)?(?:同じ|変更なし|省略|そのまま)|` +
		`(?:나머지|기존) (?:코드|부분|내용)[는은]? ?(?:동일|그대로|변경 ?없음|생략).{0,8}|` +
		`(?:el )?resto del? (?:código|archivo|fichero|contenido).{0,20}(?:sin cambios|igual|no cambia)|` +
		`(?:o )?(?:resto|restante) do (?:código|arquivo).{0,20}(?:sem alterações|inalterado|igual)|` +
		`(?:le )?reste du (?:code|fichier).{0,20}(?:inchangé|identique|sans changement)|` +
		`(?:der )?(?:rest(?: des codes| der datei)?|restliche code|übrige code) (?:bleibt )?(?:unverändert|gleich)|` +
		`(?:остальной|оставшийся) код.{0,20}(?:без изменений|не изменился|не меняется)` +
		`)$`)
)
