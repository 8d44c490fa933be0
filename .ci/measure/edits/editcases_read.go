package edits

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
)

// editCase is a case of testdata/edits: what a file is, how it is edited, and what
// it is to be then. The test of the tool says how they are written.
type editCase struct {
	name    string
	before  []byte
	after   string
	refused bool
	call    struct {
		Edits        []map[string]any `json:"edits"`
		DryRun       bool             `json:"dry_run"`
		ExpectedHash string           `json:"expected_hash"`
		Encoding     string           `json:"encoding"`
	}
}

func (c *editCase) read(data []byte) error {
	for _, f := range txtar.Parse(data).Files {
		var err error
		switch f.Name {
		case "before":
			c.before, err = literalLines(f.Data)
		case "after":
			var after []byte
			after, err = literalLines(f.Data)
			c.after = string(after)
		case "call.json":
			err = json.Unmarshal(f.Data, &c.call)
		case "error":
			c.refused, c.after = true, string(c.before)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// literalLines reads bytes that stand as Go string literals, one a line, each maybe
// after "N * ".
func literalLines(data []byte) ([]byte, error) {
	var all []byte
	for line := range strings.Lines(string(data)) {
		line, times := strings.TrimSuffix(line, "\n"), 1
		if n, literal, ok := strings.Cut(line, " * "); ok && n != "" && n[0] != '"' {
			var err error
			if times, err = strconv.Atoi(n); err != nil {
				return nil, err
			}
			line = literal
		}
		text, err := strconv.Unquote(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		for range times {
			all = append(all, text...)
		}
	}
	return all, nil
}
