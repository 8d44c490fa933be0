package find

import (
	"strings"
	"sync"
	"unicode"

	"toolcrib/tools/internal/lexical"
)

// split returns the words of a text in lower case: snake_case, kebab-case and
// camelCase are several.
func split(text string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case r == '\'' && i+1 < len(runes) && i > 0 && unicode.IsLetter(runes[i-1]) && unicode.IsLetter(runes[i+1]):
			continue // don't is one word
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]):
			end()
		}
		word.WriteRune(unicode.ToLower(r))
	}
	end()
	return words
}

// plain returns the words of a request, with a word such as "url" or "file" for an address or
// the name of a file, and without names of constants.
func plain(request string) []string {
	var words []string
	for token := range strings.FieldsSeq(request) {
		if len(token) > 1 && token[0] == '.' {
			words = append(words, "file", "name")
		}
		token = strings.Trim(token, `.,;:!?"'()`+"`")
		dot := strings.LastIndexByte(token, '.')
		switch {
		case strings.Contains(token, "://"):
			words = append(words, "url")
		case dot > 0 && len(token)-dot <= 6 && strings.IndexFunc(token[dot+1:], unicode.IsLetter) >= 0:
			words = append(words, "file")
			if ending := strings.ToLower(token[dot+1:]); documents(ending) {
				words = append(words, ending)
			}
		case strings.HasPrefix(token, "*"):
			words = append(words, "file", "name", "pattern")
		case constant(token): // of somebody's program
		case strings.HasPrefix(token, "-"): // an option of a command
		case strings.Contains(strings.Trim(token, "/"), "/"):
			words = append(words, "path")
		default:
			words = append(words, split(token)...)
		}
	}
	return words
}

// constant reports whether a token is spelled LIKE_THIS.
func constant(token string) bool {
	return strings.Contains(token, "_") && strings.IndexFunc(token, unicode.IsLower) < 0
}

func joined(words []string) string { return strings.Join(words, " ") }

// mentions reports whether a request says a name of several words. One of a
// single word is a word like others.
func mentions(said, name string) bool {
	if strings.TrimSpace(said) == name {
		return true
	}
	return strings.Contains(name, " ") && strings.Contains(said, " "+name+" ")
}

// termsOf returns the terms of a text that say something.
func termsOf(text string) []string {
	var terms []string
	for _, word := range split(text) {
		if !stopWords(word) {
			terms = append(terms, lexical.Stem(word))
		}
	}
	return terms
}

// stopWords do not describe the wanted tool.
var stopWords = setOf(`a an the this that these those it its is are was were be been being am do does did done
	i me my mine we us our you your he she they them their his her one ones
	and or but if then else so than as of to in on at for from with by into onto over about up out off
	can could should would will shall may might must please just also too very really here there now
	want wants wanted need needs like let lets how what which who whom whose where when why
	have has had not no yes some any each every all both such only own same other another
	hey hi ok im id ive dont cant whats wheres thing things something anything stuff`)

// documents are the endings of files that are no plain text.
var documents = setOf(`pdf docx pptx xlsx doc ppt xls csv epub ipynb png jpg jpeg gif svg mp3 wav`)

// articles occur inside of phrases and change nothing.
var articles = setOf(`a an the this that these those my me us our your some please`)

// weakWords say little: most requests have one.
var weakWords = setOf(`show give get tell make use using see help go take set tool tools way new file files do
	look check back first last many several few more most time times part parts`)

// adjuncts begin the part of a request that does not name the wanted thing.
var adjuncts = setOf(`for as because so while when`)

// setOf returns a function that reports whether a word is one of some, of which it makes a set
// when it is first called.
func setOf(words string) func(word string) bool {
	set := sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for word := range strings.FieldsSeq(words) {
			set[word] = true
		}
		return set
	})
	return func(word string) bool { return set()[word] }
}
