package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// The actions of a Rewrite.
const (
	doSet     = "set"
	doDefault = "default"
	doRemove  = "remove"
	doReplace = "replace"
)

// rewriter changes arguments by its rules.
type rewriter []change

type change struct {
	Rewrite
	value   json.RawMessage
	pattern *regexp.Regexp
}

// newRewriter reads rules. The error begins with the key.
func newRewriter(rules []Rewrite) (rewriter, error) {
	if len(rules) == 0 {
		return nil, at("rewrite", errors.New("it is empty; name the arguments to change"))
	}
	var rw rewriter
	for i, rule := range rules {
		c := change{Rewrite: rule}
		bad := func(key string, err error) (rewriter, error) {
			return nil, at(fmt.Sprintf("rewrite[%d]: %s", i+1, key), err)
		}
		if rule.Argument == "" {
			return bad("argument", errors.New("it is empty; give the name of an argument"))
		}
		if known := []string{doSet, doDefault, doRemove, doReplace}; !slices.Contains(known, rule.Do) {
			return bad("do", noSuch(rule.Do, known))
		}
		if rule.Pattern == "" && rule.Do == doReplace {
			return bad("pattern", errors.New("it is empty; replace wants a regular expression"))
		}
		if rule.Pattern != "" && rule.Do != doReplace {
			return bad("pattern", fmt.Errorf("it goes with replace, not with %s", rule.Do))
		}
		if c.value = json.RawMessage(rule.Value); !json.Valid(c.value) {
			c.value = quoted(rule.Value)
		}
		re, err := regexp.Compile(rule.Pattern)
		if err != nil {
			return bad("pattern", err)
		}
		c.pattern = re
		rw = append(rw, c)
	}
	return rw, nil
}

// apply returns the changed arguments, nil where nothing changes.
func (rw rewriter) apply(raw json.RawMessage) (json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, err
	}
	changed := false
	for _, c := range rw {
		old, there := args[c.Argument]
		switch {
		case c.Do == doRemove && there:
			delete(args, c.Argument)
		case c.Do == doSet, c.Do == doDefault && !there:
			args[c.Argument] = c.value
		case c.Do == doReplace && there:
			args[c.Argument] = c.replace(old)
		default:
			continue
		}
		changed = true
	}
	if !changed {
		return nil, nil
	}
	return json.Marshal(args)
}

// replace changes a string, or each string of a list.
func (c *change) replace(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
		return quoted(c.pattern.ReplaceAllString(text, c.With))
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || raw[0] != '[' {
		return raw
	}
	for i := range list {
		list[i] = c.replace(list[i])
	}
	data, err := json.Marshal(list)
	if err != nil {
		return raw // its parts are valid JSON
	}
	return data
}

func quoted(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string is always to be had
	}
	return data
}
