package clientfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"
)

// parseText parses a text in one of the forms of JSON, and refuses what the form
// does not allow.
func parseText(text []byte, format Format) (hujson.Value, error) {
	if format == JSON {
		if err := checkPlain(text); err != nil {
			return hujson.Value{}, err
		}
	}
	if at := tooDeep(text); at >= 0 {
		return hujson.Value{}, syntaxError(text, at, "the document is nested more than %d levels deep", maxDepth)
	}
	value, err := hujson.Parse(text)
	if err != nil {
		return value, jsonError(text, err)
	}
	if at := trailingComma(value); at >= 0 && format != JSONC {
		return value, syntaxError(text, at, "there is a comma before the closing bracket")
	}
	return value, checkKeys(text, value)
}

// checkPlain refuses what JSON with comments allows and JSON does not.
func checkPlain(text []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(text, &raw)
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return syntaxError(text, int(wrong.Offset)-1, "%v", err)
	}
	return err
}

// maxDepth is how deep a document may be nested; the parser has no limit but the
// stack. Package json has the same.
const maxDepth = 10000

// tooDeep returns where a document is nested too deep, -1 where it is not.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case rest[0] == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(rest, []byte("//")):
			i += lengthTo(rest, "\n") - 1
		case bytes.HasPrefix(rest, []byte("/*")):
			i += 1 + lengthTo(rest[2:], "*/")
		case rest[0] == '{' || rest[0] == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case rest[0] == '}' || rest[0] == ']':
			depth--
		}
	}
	return -1
}

// lengthTo is the number of bytes up to the end of a mark, or of all.
func lengthTo(text []byte, mark string) int {
	if i := bytes.Index(text, []byte(mark)); i >= 0 {
		return i + len(mark)
	}
	return len(text)
}

// jsonError gives an error of the parser our form; its text begins with where.
func jsonError(text []byte, err error) error {
	line, column := 1, 1
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return syntaxError(text, 0, "%v", err)
	}
	return &SyntaxError{line, column, errors.Unwrap(err).Error()}
}

// checkKeys refuses an object with the same key twice: clients differ in which
// of them counts.
func checkKeys(text []byte, value hujson.Value) error {
	for v := range value.All() {
		obj, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		seen := make(map[string]bool, len(obj.Members))
		for _, m := range obj.Members {
			key := m.Name.Value.(hujson.Literal).String()
			if seen[key] {
				return syntaxError(text, m.Name.StartOffset, "the key %q appears twice", key)
			}
			seen[key] = true
		}
	}
	return nil
}

// trailingComma returns the offset of a comma before a closing bracket, -1 where
// none does.
func trailingComma(value hujson.Value) int {
	for v := range value.All() {
		var last *hujson.Value
		switch v := v.Value.(type) {
		case *hujson.Object:
			if n := len(v.Members); n > 0 {
				last = &v.Members[n-1].Value
			}
		case *hujson.Array:
			if n := len(v.Elements); n > 0 {
				last = &v.Elements[n-1]
			}
		}
		if last != nil && last.AfterExtra != nil {
			return last.EndOffset + len(last.AfterExtra)
		}
	}
	return -1
}
