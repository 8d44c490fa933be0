package command

import (
	"fmt"

	"mvdan.cc/sh/v3/syntax"
)

// Quote writes a text as one word of a line of bash.
func Quote(text string) (string, error) {
	quoted, err := syntax.Quote(text, syntax.LangBash)
	if err != nil {
		return "", fmt.Errorf("%q cannot be a word of a command line: %w", text, err)
	}
	return quoted, nil
}
