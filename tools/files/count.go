package files

import (
	"strings"

	"toolcrib/tools/internal/textfile"
)

// count writes a number with its noun: "1 line", "2,000 lines", "2 entries".
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return textfile.Number(n) + " " + noun + "s"
}
