package plain

import (
	"bytes"
	"encoding/json"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/html"
)

// JSON reads a notebook as its cells, a list of flat objects as a table, anything else as it
// is.
func JSON(src document.Source, budget *document.Budget) (*document.Document, error) {
	text, _, err := decoded(src, budget)
	if err != nil {
		return nil, err
	}
	if err := nesting(text, budget); err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(text)
	if doc, err := notebook(text, budget); doc != nil || err != nil {
		return doc, err
	}
	doc := &document.Document{Format: "json"}
	switch {
	case !json.Valid(text):
		if first, _, ok := bytes.Cut(text, []byte("\n")); !ok || !json.Valid(first) {
			doc.Warn("the JSON is not valid; it is shown as it is")
		}
	case bytes.HasPrefix(text, []byte("[")):
		if grid, err := tableOf(text, budget); grid != nil || err != nil {
			doc.Add(document.Block{Kind: document.Table, Grid: grid})
			return doc, err
		}
		fallthrough
	default:
		if bytes.IndexByte(text, '\n') < 0 {
			var out bytes.Buffer
			if json.Indent(&out, text, "", "  ") == nil {
				text = out.Bytes()
				if err := budget.TakeText(len(text)); err != nil {
					return nil, err
				}
			}
		}
	}
	doc.Add(document.Block{Kind: document.Code, Label: "json", Spans: document.Text(string(text))})
	return doc, nil
}

// nesting refuses text whose brackets lie too deep in each other.
func nesting(text []byte, budget *document.Budget) error {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && inString:
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			if err := budget.CheckDepth(depth); err != nil {
				return err
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// tableOf makes a table of a list of flat objects; nil = it is none.
func tableOf(text []byte, budget *document.Budget) (*document.Grid, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return nil, nil //nolint:nilnil,nilerr // no table
	}
	var header []document.Cell
	places := map[string]int{}
	var rows [][]document.Cell
	for d.More() {
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			return nil, nil //nolint:nilnil,nilerr // no table
		}
		row := make([]document.Cell, 0, len(header))
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, nil //nolint:nilnil,nilerr // no table
			}
			value, err := d.Token()
			if _, nested := value.(json.Delim); nested || err != nil {
				return nil, nil //nolint:nilnil,nilerr // no table
			}
			name, _ := key.(string)
			at, known := places[name]
			if !known {
				if at = len(header); at > 200 {
					return nil, nil //nolint:nilnil // too wide for one
				}
				places[name] = at
				header = append(header, document.Cell{Text: name})
			}
			for len(row) <= at {
				row = append(row, document.Cell{})
			}
			row[at] = document.Cell{Text: scalar(value)}
		}
		if _, err := d.Token(); err != nil {
			return nil, nil //nolint:nilnil,nilerr // no table
		}
		if err := budget.TakeCells(len(row)); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	if len(rows) < 2 || len(header) < 2 {
		return nil, nil //nolint:nilnil // no table
	}
	return &document.Grid{Rows: append([][]document.Cell{header}, rows...)}, nil
}

func scalar(value json.Token) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return ""
}

// lines is a text of a notebook: one string, or one for each line.
type lines string

func (l *lines) UnmarshalJSON(data []byte) error {
	var many []string
	if json.Unmarshal(data, &many) == nil {
		*l = lines(strings.Join(many, ""))
		return nil
	}
	var one string
	_ = json.Unmarshal(data, &one) // what is no text has none
	*l = lines(one)
	return nil
}

type notebookFile struct {
	NBFormat int `json:"nbformat"`
	Cells    []struct {
		Type    string `json:"cell_type"`
		Source  lines  `json:"source"`
		Outputs []struct {
			Type      string           `json:"output_type"`
			Text      lines            `json:"text"`
			Data      map[string]lines `json:"data"`
			Name      string           `json:"ename"`
			Value     string           `json:"evalue"`
			Traceback []string         `json:"traceback"`
		} `json:"outputs"`
	} `json:"cells"`
	Metadata struct {
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
}

// notebook reads a notebook; nil = the JSON is none.
func notebook(text []byte, budget *document.Budget) (*document.Document, error) {
	if !bytes.Contains(text, []byte(`"nbformat"`)) || !bytes.Contains(text, []byte(`"cells"`)) {
		return nil, nil //nolint:nilnil // no notebook
	}
	var file notebookFile
	if json.Unmarshal(text, &file) != nil || file.NBFormat == 0 {
		return nil, nil //nolint:nilnil // no notebook
	}
	lang := file.Metadata.Language.Name
	if lang == "" {
		lang = "python"
	}
	doc := &document.Document{Format: "ipynb"}
	for _, cell := range file.Cells {
		switch cell.Type {
		case "markdown":
			doc.Add(Markdown(string(cell.Source))...)
		case "code":
			if strings.TrimSpace(string(cell.Source)) != "" {
				doc.Add(document.Block{Kind: document.Code, Label: lang, Spans: document.Text(string(cell.Source))})
			}
		default:
			if strings.TrimSpace(string(cell.Source)) != "" {
				doc.Add(document.Block{Kind: document.Code, Spans: document.Text(string(cell.Source))})
			}
		}
		for _, out := range cell.Outputs {
			text := string(out.Text)
			switch {
			case out.Type == "error":
				text = out.Name + ": " + out.Value
			case out.Data["text/html"] != "":
				page, err := html.Blocks([]byte(out.Data["text/html"]), budget, nil)
				if err == nil && len(page.Blocks) > 0 {
					doc.Add(page.Blocks...)
					continue
				}
				text = string(out.Data["text/plain"])
			case out.Data["text/markdown"] != "":
				doc.Add(Markdown(string(out.Data["text/markdown"]))...)
				continue
			case out.Data["image/png"]+out.Data["image/jpeg"]+out.Data["image/svg+xml"] != "":
				doc.Add(document.Block{Spans: []document.Span{{Text: strings.TrimSpace(string(out.Data["text/plain"])), Link: "output", Style: document.Picture}}})
				continue
			case out.Data["text/plain"] != "":
				text = string(out.Data["text/plain"])
			}
			if text = strings.Trim(uncolored(text), "\n"); text != "" {
				doc.Add(document.Block{Kind: document.Code, Label: "output", Spans: document.Text(text)})
			}
		}
	}
	return doc, nil
}

// uncolored removes the sequences by which programs color their output.
func uncolored(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
		text = rest[end+1:]
	}
}
