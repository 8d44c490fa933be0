// Package presets reads agents from Markdown files with front matter: the head says what the
// agent is for and bounds it, the body is its instructions.
//
// The form is that of Claude Code's agents as far as its fields mean something here, with
// fields of ours beside. What a file cannot say is where models are, with which keys, or which
// programs run: that is for the configuration. The package reads text and opens nothing. Start
// at [Parse].
package presets

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Preset is an agent as a file describes it. A field that is zero was not said.
type Preset struct {
	Name, Description string
	System            string // the body
	Tools             []string
	Without           []string // tools that it must not have
	Models            []string
	MaxRounds         int
	MaxTokens         int
	MaxCost           float64
	Timeout           time.Duration
	Temperature       *float64
	Thinking          string
	// Unknown are the fields that mean nothing here, sorted.
	Unknown []string
}

// Limits of a file.
const (
	MaxFile   = 64 << 10
	maxSystem = 20_000
	maxName   = 64
)

// Parse reads a file. name is that of the preset unless the file has another. The error says
// why there is no preset: a limit that cannot be read is one that would not hold.
func Parse(name string, data []byte) (Preset, error) {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\ufffd"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return Preset{}, errors.New("it has no front matter: its first line is not ---")
	}
	head, body, ok := strings.Cut("\n"+rest+"\n", "\n---\n")
	if !ok {
		return Preset{}, errors.New("its front matter has no end: a line ---")
	}
	p := Preset{Name: name, System: strings.TrimSpace(body)}
	for key, value := range fields(head) {
		if err := p.set(key, value); err != nil {
			return Preset{}, fmt.Errorf("%s: %w", key, err)
		}
	}
	slices.Sort(p.Unknown)
	switch {
	case p.Name == "" || len(p.Name) > maxName || strings.ContainsFunc(p.Name, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return Preset{}, fmt.Errorf("name: it has 1 to %d characters, without spaces", maxName)
	case p.System == "":
		return Preset{}, errors.New("there are no instructions below the front matter")
	case len(p.System) > maxSystem:
		return Preset{}, fmt.Errorf("its instructions have %d bytes, of at most %d", len(p.System), maxSystem)
	}
	return p, nil
}

// fields reads front matter. What is not YAML, as descriptions with a colon in them make it, is
// read line by line.
func fields(head string) map[string]any {
	var whole map[string]any
	if yaml.Unmarshal([]byte(head), &whole) == nil {
		return whole
	}
	whole = map[string]any{}
	last := ""
	field := regexp.MustCompile(`^([A-Za-z][A-Za-z_-]*):(?: |$)(.*)`)
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, "\n")
		if m := field.FindStringSubmatch(line); m != nil {
			last = m[1]
			whole[last] = strings.Trim(strings.TrimSpace(m[2]), `"'`)
		} else if text, is := whole[last].(string); is {
			whole[last] = strings.TrimSpace(text + "\n" + strings.TrimSpace(line))
		}
	}
	return whole
}

// set takes one field. Spellings of a name count as one: maxTurns, max_turns.
func (p *Preset) set(key string, value any) error {
	var err error
	switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key)) {
	case "name":
		p.Name, err = text(value)
	case "description":
		p.Description, err = text(value)
		p.Description = strings.Join(strings.Fields(p.Description), " ")
	case "tools":
		p.Tools, err = list(value)
	case "disallowedtools":
		p.Without, err = list(value)
	case "model", "models":
		p.Models, err = list(value)
		if slices.Equal(p.Models, []string{"inherit"}) { // of the agent that calls it
			p.Models = nil
		}
	case "maxrounds", "maxturns":
		p.MaxRounds, err = whole(value, 100)
	case "maxtokens":
		p.MaxTokens, err = whole(value, math.MaxInt32)
	case "maxcost":
		p.MaxCost, err = number(value, math.MaxFloat64)
	case "timeout":
		p.Timeout, err = duration(value)
	case "temperature":
		var t float64
		t, err = number(value, 2)
		p.Temperature = &t
	case "thinking", "effort":
		p.Thinking, err = text(value)
		if err == nil && !slices.Contains([]string{"off", "low", "medium", "high"}, p.Thinking) {
			err = errors.New("it is off, low, medium or high")
		}
	case "color": // how a client shows the agent
	default:
		p.Unknown = append(p.Unknown, key)
	}
	return err
}

func text(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return strings.TrimSpace(v), nil
	case bool: // off is one in YAML
		if !v {
			return "off", nil
		}
	case int, float64:
		return fmt.Sprint(v), nil
	}
	return "", errors.New("it is not a text")
}

// list reads names: a list, or a text with commas between them. Commas inside
// parentheses belong to a name.
func list(value any) ([]string, error) {
	names := []string{} // said to be none
	add := func(name string) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		depth, from := 0, 0
		for i, r := range v {
			switch {
			case r == '(':
				depth++
			case r == ')':
				depth--
			case r == ',' && depth == 0:
				add(v[from:i])
				from = i + 1
			}
		}
		add(v[from:])
		return names, nil
	case []any:
		for _, item := range v {
			name, err := text(item)
			if err != nil {
				return nil, errors.New("it is not a list of names")
			}
			add(name)
		}
		return names, nil
	}
	return nil, errors.New("it is not a list of names")
}

func whole(value any, most int) (int, error) {
	n, is := value.(int)
	if !is || n < 1 || n > most {
		return 0, fmt.Errorf("it is not a whole number from 1 to %d", most)
	}
	return n, nil
}

func number(value any, most float64) (float64, error) {
	var n float64
	switch v := value.(type) {
	case int:
		n = float64(v)
	case float64:
		n = v
	default:
		return 0, errors.New("it is not a number")
	}
	if n < 0 || n > most || n != n {
		return 0, errors.New("it is out of range")
	}
	return n, nil
}

func duration(value any) (time.Duration, error) {
	if n, is := value.(int); is && n > 0 && n < math.MaxInt32 {
		return time.Duration(n) * time.Second, nil
	}
	said, is := value.(string)
	d, err := time.ParseDuration(strings.TrimSpace(said))
	if !is || err != nil || d <= 0 {
		return 0, errors.New(`it is not a time such as "5m"`)
	}
	return d, nil
}
