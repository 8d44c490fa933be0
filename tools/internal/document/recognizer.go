package document

import (
	"context"
	"image"
	"time"
)

// Recognizer reads the text of pictures of pages (OCR).
type Recognizer interface {
	// Ready says why it cannot read and what helps, as a clause; nil = it can.
	Ready(ctx context.Context) error
	// Begin begins to read a picture as soon as there is room for it, and returns what waits
	// for the result. The caller leaves the picture alone until then.
	Begin(ctx context.Context, picture *image.Gray, dpi int) (wait func() (Recognized, error))
}

// Recognized is the text of a picture. Places are in pixels, y down.
type Recognized struct {
	Words    []RecognizedWord // in reading order
	Language string           // that was expected, as the recognizer calls it
	Sure     float64          // of the words, 0 to 1 on average
}

// RecognizedWord is a word of a picture. Y is that of its baseline, and Size that of its font.
type RecognizedWord struct {
	Text            string
	X0, X1, Y, Size float64
}

// recognizing is how long pages of one file may be read from pictures, so that the rest of
// the call has time too.
const recognizing = 40 * time.Second

// RecognizeBy is when the [Recognizer] must have read what it can.
func (b *Budget) RecognizeBy() time.Time {
	if b.recognizeBy.IsZero() {
		b.recognizeBy = time.Now().Add(recognizing)
	}
	return b.recognizeBy
}
