package find

import (
	"strings"
	"unicode"
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
			if ending := strings.ToLower(token[dot+1:]); documents[ending] {
				words = append(words, ending)
			}
		case strings.HasPrefix(token, "*"):
			words = append(words, "file", "name", "pattern")
		case constant(token): // of somebody's program
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
		if !stopWords[word] {
			terms = append(terms, stem(word))
		}
	}
	return terms
}

// stem takes the endings off an English word that do not change what it is about:
// of the plural, of the tenses, of nouns made of verbs, and a last e, which some of
// these swallow. Two words with one stem that mean different things are rare
// enough not to matter here.
func stem(word string) string {
	if len(word) < 4 || strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
		return word
	}
	word = singular(word)
	for _, ending := range [...]string{"ing", "ied", "ed", "ion"} {
		head, ok := strings.CutSuffix(word, ending)
		if !ok || len(head) < 3 || !strings.ContainsAny(head, "aeiouy") || ending == "ion" && !strings.ContainsAny(head[len(head)-1:], "st") {
			continue
		}
		if ending == "ied" {
			return head + "y"
		}
		if n := len(head); ending != "ion" && head[n-1] == head[n-2] && !strings.ContainsAny(head[n-1:], "ls") {
			head = head[:n-1] // running
		}
		word = head
		break
	}
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "e")
	}
	return word
}

func singular(word string) string {
	head, ok := strings.CutSuffix(word, "s")
	switch {
	case !ok || strings.HasSuffix(head, "s") || strings.HasSuffix(head, "u") || strings.HasSuffix(head, "i"):
		return word
	case strings.HasSuffix(head, "ie") && len(head) > 4:
		return head[:len(head)-2] + "y"
	case strings.HasSuffix(head, "xe"), strings.HasSuffix(head, "che"), strings.HasSuffix(head, "she"), strings.HasSuffix(head, "sse"):
		return head[:len(head)-1]
	}
	return head
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

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
