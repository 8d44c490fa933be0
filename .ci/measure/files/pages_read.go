package files

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// asLines is a content as pages of lines give it: without the last line's end.
func asLines(content string) string { return strings.TrimSuffix(content, "\n") }

func (p *pager) readAll(args map[string]any) error {
	for name, content := range p.tree {
		if len(content) < 3000 {
			continue
		}
		mine := map[string]any{"path": name}
		maps.Copy(mine, args)
		lines, err := p.lines(name, mine)
		if err != nil {
			return err
		}
		p.compare(name, strings.Join(lines, "\n"), asLines(content))
	}
	return nil
}

// lines reads a file from where args say to its end.
func (p *pager) lines(name string, args map[string]any) (all []string, err error) {
	err = p.follow("read_file", args, func(body string) error {
		for line := range strings.SplitSeq(body, "\n") {
			m := numbered.FindStringSubmatch(line)
			if m == nil {
				return fmt.Errorf("%s: a line without a number: %.80q", name, line)
			}
			whole, err := p.uncut(name, m[2])
			if err != nil {
				return err
			}
			all = append(all, whole)
		}
		return nil
	})
	return all, err
}

// uncut puts back what the mark at the end of a line says is left out.
func (p *pager) uncut(name, line string) (string, error) {
	m := hintCut.FindStringSubmatch(line)
	if m == nil {
		return line, nil
	}
	left, _ := strconv.Atoi(m[1]) // digits
	at, _ := strconv.Atoi(m[2])
	limit, _ := strconv.Atoi(m[3])
	var whole strings.Builder
	whole.WriteString(strings.TrimSuffix(line, m[0]))
	for end := at + left; at < end; limit = min(end-at, 50_000) {
		status, body, err := p.call("read_file", map[string]any{"path": name, "byte_offset": at, "byte_limit": limit})
		if err != nil {
			return "", err
		}
		whole.WriteString(body)
		next := hintNext.FindStringSubmatch(status)
		if next == nil {
			break
		}
		if at, err = strconv.Atoi(next[2]); err != nil {
			return "", err
		}
	}
	return whole.String(), nil
}

func (p *pager) readBytes() error {
	for name, content := range p.tree {
		if len(content) < 20_000 {
			continue
		}
		var all strings.Builder
		err := p.follow("read_file", map[string]any{"path": name, "byte_offset": 0}, func(body string) error {
			all.WriteString(body)
			return nil
		})
		if err != nil {
			return err
		}
		p.compare(name, all.String(), content)
	}
	return nil
}

func (p *pager) readMany() error {
	got := map[string]string{}
	err := p.follow("read_files", map[string]any{"paths": []string{"src/**", "long/*"}}, func(body string) error {
		for part := range strings.SplitSeq(body, "\n\n") {
			head, text, _ := strings.Cut(part, "\n")
			name, _, _ := strings.Cut(head, ": ")
			if _, twice := got[name]; twice {
				return fmt.Errorf("%s comes twice", name)
			}
			var lines []string
			for line := range strings.SplitSeq(text, "\n") {
				if m := numbered.FindStringSubmatch(line); m != nil {
					whole, err := p.uncut(name, m[2])
					if err != nil {
						return err
					}
					lines = append(lines, whole)
				}
			}
			if m := hintRest.FindStringSubmatch(head); m != nil {
				offset, _ := strconv.Atoi(m[1]) // digits
				rest, err := p.lines(name, map[string]any{"path": name, "offset": offset})
				if err != nil {
					return err
				}
				lines = append(lines, rest...)
			}
			got[name] = strings.Join(lines, "\n")
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name, content := range p.tree {
		if strings.HasPrefix(name, "src/") || strings.HasPrefix(name, "long/") {
			p.compare(name, got[name], asLines(content))
			delete(got, name)
		}
	}
	if len(got) > 0 {
		p.differ = append(p.differ, fmt.Sprintf("%d files that do not exist", len(got)))
	}
	return nil
}
