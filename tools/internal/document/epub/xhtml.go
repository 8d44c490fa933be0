package epub

import (
	"regexp"
	"sync"
)

// closed matches elements of XHTML that are closed at once. A reader of HTML would take them
// for open ones and put the rest of the chapter into them.
var closed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<((?:a|div|p|span|title|script|style|i|b|em|td|th|li|ul|ol|section|textarea|iframe)(?:\s[^<>]*)?)/>`)
})

// selfClosed opens and closes such elements apart.
func selfClosed(text []byte) []byte {
	return closed().ReplaceAllFunc(text, func(tag []byte) []byte {
		inner := tag[1 : len(tag)-2]
		end := 0
		for end < len(inner) && inner[end] > ' ' {
			end++
		}
		return []byte("<" + string(inner) + "></" + string(inner[:end]) + ">")
	})
}
