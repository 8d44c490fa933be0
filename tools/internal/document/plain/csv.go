package plain

import (
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/cells"
)

// CSV reads a table of text. Its delimiter is the one by which its first lines have most
// often the same number of fields.
func CSV(src document.Source, budget *document.Budget) (*document.Document, error) {
	area, err := cells.ParseArea(src.Range)
	if err != nil {
		return nil, err
	}
	data, encoding, err := decoded(src, budget)
	if err != nil {
		return nil, err
	}
	text := string(data)
	doc := &document.Document{Format: "csv"}
	if rest, ok := strings.CutPrefix(text, "sep="); ok && len(rest) > 1 && rest[1] == '\n' {
		text = rest[2:]
	}
	delimiter := Delimiter(text)
	if delimiter == '\t' {
		doc.Format = "tsv"
	}
	if encoding != "utf-8" {
		doc.Field("encoding", encoding)
	}
	var grid document.Grid
	for row := 0; text != "" && row <= area.Bottom; row++ {
		var fields []string
		fields, text = record(text, delimiter)
		if err := budget.TakeCells(len(fields)); err != nil {
			return nil, err
		}
		if len(fields) == 1 && fields[0] == "" {
			continue
		}
		if row < area.Top {
			continue
		}
		var line []document.Cell
		for col, field := range fields {
			if area.Has(row, col) {
				line = append(line, document.Cell{Text: field})
			}
		}
		if line != nil {
			grid.Rows = append(grid.Rows, line)
		}
	}
	if grid.Rows != nil {
		doc.Add(document.Block{Kind: document.Table, Grid: &grid})
	}
	return doc, nil
}

// Delimiter returns what divides the fields of a table of text; 0 = it is no table.
func Delimiter(text string) byte {
	const lines = 40
	best, score := byte(','), 0.0
	for _, delimiter := range []byte(",;\t|") {
		counts := map[int]int{}
		total := 0
		for rest := text; rest != "" && total < lines; {
			var fields []string
			before := rest
			fields, rest = record(rest, delimiter)
			if len(before)-len(rest) > 64<<10 {
				break
			}
			if len(fields) == 1 && fields[0] == "" {
				continue
			}
			counts[len(fields)]++
			total++
		}
		for fields, n := range counts {
			if s := float64(n) / float64(total) * (1 + min(float64(fields), 20)/100); fields > 1 && s > score {
				best, score = delimiter, s
			}
		}
	}
	return best
}

// record reads one record; quotes may lie inside of fields that are not quoted.
func record(text string, delimiter byte) (fields []string, rest string) {
	for {
		var field string
		if strings.HasPrefix(text, `"`) {
			field, text = quoted(text[1:])
			end := strings.IndexAny(text, string(delimiter)+"\n") // what follows the quote belongs to it
			if end < 0 {
				end = len(text)
			}
			field, text = field+text[:end], text[end:]
		} else {
			end := strings.IndexAny(text, string(delimiter)+"\n")
			if end < 0 {
				end = len(text)
			}
			field, text = text[:end], text[end:]
		}
		fields = append(fields, strings.TrimSpace(field))
		if text == "" {
			return fields, ""
		}
		at := text[0]
		text = text[1:]
		if at == '\n' {
			return fields, text
		}
	}
}

// quoted reads to the end of a quoted field.
func quoted(text string) (field, rest string) {
	var b strings.Builder
	for {
		end := strings.IndexByte(text, '"')
		if end < 0 {
			b.WriteString(text)
			return b.String(), ""
		}
		b.WriteString(text[:end])
		if text = text[end+1:]; !strings.HasPrefix(text, `"`) {
			return b.String(), text
		}
		b.WriteByte('"')
		text = text[1:]
	}
}
