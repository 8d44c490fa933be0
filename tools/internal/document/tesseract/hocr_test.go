package tesseract

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/document"
)

// The lines fall by 1 in 100, and are made level. What is unsure from end to end is a drawing.
func TestParse(t *testing.T) {
	const hocr = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title></title></head><body>
<div class='ocr_page' id='page_1' title='image "stdin"; bbox 0 0 1000 500; ppageno 0'>
<span class='ocr_line' title="bbox 100 90 300 120; baseline 0.01 -10; x_size 40; x_descenders 9">
 <span class='ocrx_word' title='bbox 100 90 180 120; x_wconf 90'>R&amp;D</span>
 <span class='ocrx_word' title='bbox 200 90 300 120; x_wconf 50'><strong>costs</strong></span>
 <span class='ocrx_word' title='bbox 310 90 320 120; x_wconf 10'> </span>
</span>
<span class='ocr_header' title="bbox 500 94 600 124; baseline 0.01 -10; x_size 40">
 <span class='ocrx_word' title='bbox 500 94 600 124; x_wconf 100'>12</span>
</span>
<span class='ocr_line' title="bbox 10 300 90 390; baseline 0.01 0">
 <span class='ocrx_word' title='bbox 10 300 90 390; x_wconf 5'>|~*</span>
</span>
</div></body></html>`
	got, sideways, err := parse(t.Context(), []byte(hocr))
	if err != nil || sideways {
		t.Fatal(err, sideways)
	}
	want := document.Recognized{Sure: .8, Words: []document.RecognizedWord{
		{Text: "R&D", X0: 100, X1: 180, Y: 109, Size: 44},
		{Text: "costs", X0: 200, X1: 300, Y: 109, Size: 44},
		{Text: "12", X0: 500, X1: 600, Y: 109, Size: 44},
	}}
	near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Error(diff)
	}
}

func TestUsual(t *testing.T) {
	for _, test := range []struct{ have, all, first []string }{
		{[]string{"chi_sim", "eng"}, []string{"eng", "chi_sim"}, []string{"eng"}},
		{[]string{"rus"}, []string{"rus"}, []string{"rus"}},
		{[]string{"afr", "deu", "eng", "fra"}, []string{"eng", "afr", "deu"}, []string{"eng", "afr", "deu"}},
	} {
		all, first := usual(test.have)
		if diff := cmp.Diff([][]string{test.all, test.first}, [][]string{all, first}); diff != "" {
			t.Errorf("%v: %s", test.have, diff)
		}
	}
}

// A page that is turned by 90 degrees has lines that run down.
func TestSideways(t *testing.T) {
	const hocr = `<html><body>
<span class='ocr_line' title="bbox 2033 252 2061 1449; x_size 27"><span class='ocrx_word' title='bbox 2033 252 2061 420; x_wconf 96'>Public</span></span>
<span class='ocr_line' title="bbox 1894 276 1920 475; baseline -99.5 696.5; x_size 26"><span class='ocrx_word' title='bbox 1894 276 1920 475; x_wconf 95'>libraries</span></span>
</body></html>`
	if _, sideways, err := parse(t.Context(), []byte(hocr)); !sideways || err != nil {
		t.Errorf("sideways %v, %v", sideways, err)
	}
}
