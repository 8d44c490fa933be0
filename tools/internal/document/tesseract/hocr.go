package tesseract

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/markup"
)

// row is a line of the result, with what is true of all of its words.
type row struct {
	words       []found
	size, slope float64
	x, y        float64 // where its baseline begins
	upright     bool    // it runs up or down
}

type found struct {
	text   string
	x0, x1 float64
	sure   float64
}

// parse reads the result of tesseract: HTML with the places of lines and words (hOCR). sideways
// reports whether most lines run up or down, so that the places say no order.
func parse(ctx context.Context, hocr []byte) (text document.Recognized, sideways bool, err error) {
	rows, err := rowsOf(ctx, hocr)
	if err != nil {
		return text, false, err
	}
	var slopes []float64
	for _, r := range rows {
		if r.words != nil {
			slopes = append(slopes, r.slope)
		}
	}
	slope := 0.0 // of the page, which is made level
	if slices.Sort(slopes); len(slopes) > 0 {
		slope = slopes[len(slopes)/2]
	}
	sure, up := 0.0, 0
	for _, r := range rows {
		if !r.legible() {
			continue
		}
		for _, w := range r.words {
			text.Words = append(text.Words, document.RecognizedWord{Text: w.text, X0: w.x0, X1: w.x1, Y: r.y - slope*r.x, Size: r.size})
			sure += w.sure
		}
		if r.upright {
			up += len(r.words)
		}
	}
	text.Sure = sure / float64(max(1, len(text.Words)))
	return text, 2*up > len(text.Words), nil
}

// legible reports whether a line is a text, and not what a drawing looks like.
func (r *row) legible() bool {
	const least = .35
	sure := 0.0
	for _, w := range r.words {
		sure += w.sure
	}
	return len(r.words) > 0 && sure >= least*float64(len(r.words))
}

func rowsOf(ctx context.Context, hocr []byte) (rows []row, err error) {
	const size = 1.1 // of a font to the height of its letters, as tesseract measures it
	d := markup.New(bytes.NewReader(hocr), document.NewBudget(ctx, document.Standard()))
	for {
		kind, err := d.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if kind != markup.Start || d.Name() != "span" {
			continue
		}
		about := properties(d.Attr("title"))
		box := about["bbox"]
		if len(box) != 4 {
			continue
		}
		if d.Attr("class") != "ocrx_word" {
			wide, high := box[2]-box[0], box[3]-box[1]
			r := row{x: box[0], y: box[3], size: high, upright: high > 2*wide}
			if base := about["baseline"]; len(base) == 2 {
				r.slope, r.y = base[0], r.y+base[1]
			}
			if height := about["x_size"]; len(height) == 1 {
				r.size = size * height[0]
			}
			rows = append(rows, r)
			continue
		}
		text, err := d.Inner()
		if err != nil {
			return nil, err
		}
		w := found{text: strings.TrimSpace(text), x0: box[0], x1: box[2]}
		if sure := about["x_wconf"]; len(sure) == 1 {
			w.sure = sure[0] / 100
		}
		if w.text != "" && len(rows) > 0 {
			r := &rows[len(rows)-1]
			r.words = append(r.words, w)
		}
	}
}

// properties reads what hOCR says in a title: "bbox 1 2 3 4; x_wconf 96".
func properties(title string) map[string][]float64 {
	all := map[string][]float64{}
	for part := range strings.SplitSeq(title, ";") {
		fields := strings.Fields(part)
		if len(fields) == 0 {
			continue
		}
		var numbers []float64
		for _, f := range fields[1:] {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil || math.IsNaN(v) || math.Abs(v) > 1e6 {
				numbers = nil
				break
			}
			numbers = append(numbers, v)
		}
		all[fields[0]] = numbers
	}
	return all
}
