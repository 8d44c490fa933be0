package redact

import "strings"

// Least lengths of values in running text.
const (
	leastQuoted = 4
	leastBare   = 6
)

// assigned matches the value that is given to a name which ends in the keyword:
// name=value, name: value, "name": "value", --name value.
func assigned(s string, from, to int) (span, bool) {
	end := inDigits.run(s, to)
	if end < len(s) && (isAlnum(s[end]) || s[end] == '_' || s[end] == '-') {
		return span{}, false
	}
	name := inName.back(s, from, 64)
	at, sign := separator(s, end, strings.HasPrefix(s[name:], "--"))
	if sign == 0 || !SecretName(s[name:to]) {
		return span{}, false
	}
	loose := at < len(s) && s[at] == ' ' || sign == ':'
	at = blank(s, at)
	if quote := opening(s, at); quote > 0 {
		begin := at + quote
		stop := closing(s, begin, s[at:begin])
		return span{from: begin, to: stop}, stop-begin >= leastQuoted && !placeholder(s[begin:stop])
	}
	end = at
	for end < len(s) && s[end] > ' ' && strings.IndexByte("\"'`&\\<>", s[end]) < 0 {
		end++
	}
	value := strings.TrimRight(s[at:end], ",;.)]}")
	found := span{from: at, to: at + len(value)}
	switch {
	case placeholder(value), strings.Contains(value, "("), len(value) < leastQuoted:
		return span{}, false
	case loose && sign != ' ': // prose and code have ordinary words here
		return found, len(value) >= leastBare && unlikeWords(value)
	}
	return found, true
}

// unlikeWords reports whether a value has characters that names in code and words of prose
// lack.
func unlikeWords(value string) bool {
	return strings.ContainsAny(value, digits+"!@#%^*+/=~")
}

// separator returns the position behind the sign that follows a name, and the sign: '=',
// ':' or, for a flag, ' '; 0 if there is none.
func separator(s string, at int, flag bool) (int, byte) {
	after := at + opening(s, at)
	after = blank(s, after)
	switch rest := s[after:]; {
	case strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, ":="), strings.HasPrefix(rest, "=="):
		return after + 2, '='
	case strings.HasPrefix(rest, "="):
		return after + 1, '='
	case strings.HasPrefix(rest, "://"):
		return 0, 0
	case strings.HasPrefix(rest, ":"):
		return after + 1, ':'
	case flag && after > at && after < len(s):
		return after, ' '
	}
	return 0, 0
}

// blank returns the end of the spaces and tabs at a position.
func blank(s string, at int) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	return at
}

// opening returns the length of the quote at a position, with the backslashes before it; 0
// if there is none.
func opening(s string, at int) int {
	i := at
	for i < len(s) && s[i] == '\\' {
		i++
	}
	if i < len(s) && strings.IndexByte("\"'`", s[i]) >= 0 {
		return i + 1 - at
	}
	return 0
}

// closing returns the end of a quoted value: before the same quote, or at the end of a text
// that was cut.
func closing(s string, at int, quote string) int {
	for i := at; i < len(s); i++ {
		if strings.HasPrefix(s[i:], quote) {
			return i
		}
		if s[i] == '\\' && len(quote) == 1 {
			i++
		}
	}
	return len(s)
}

// header matches the value of an Authorization or Cookie header to the end of its
// line or quote; the scheme stays.
func header(s string, _, to int) (span, bool) {
	at, sign := separator(s, to, false)
	if sign == 0 {
		return span{}, false
	}
	at = blank(s, at)
	quote := ""
	for at < len(s) && s[at] == '[' { // a list of values, as Go prints it
		quote, at = "]", at+1
	}
	if n := opening(s, at); n > 0 {
		quote, at = s[at:at+n], at+n
	}
	end := at
	for end < len(s) && s[end] != '\n' && s[end] != '\r' && s[end] != '"' && s[end] != '\'' && s[end] != '\\' && (quote == "" || !strings.HasPrefix(s[end:], quote)) {
		end++
	}
	begin, known := at, false
	if word := inWord.run(s, at); word < end && s[word] == ' ' {
		begin, known = blank(s, word), scheme(s[at:word])
	}
	value := strings.TrimRight(s[min(begin, end):end], " ,;")
	return span{from: begin, to: begin + len(value)}, len(value) >= leastBare && !placeholder(value) && (known || unlikeWords(value))
}

// scheme reports whether a word is a scheme of authorization in wide use.
func scheme(word string) bool {
	switch strings.ToLower(word) {
	case "basic", "bearer", "digest", "negotiate", "token", "apikey":
		return true
	}
	return false
}
