package document

import (
	"context"
	"image"
)

// Recognizer reads the text of pictures of pages (OCR).
type Recognizer interface {
	// Ready says why it cannot read and what helps, as a clause; nil = it can.
	Ready(ctx context.Context) error
	// Begin begins to read a picture as soon as there is room for it, and returns what waits
	// for the result. draw draws it, unless what it says is known by its id; "" = it has none,
	// and is not kept. The error is that of draw.
	Begin(ctx context.Context, id string, draw func() (picture *image.Gray, dpi int, err error)) (wait func() (Recognized, error), err error)
}

// Recognized is the text of a picture, turned upright. Places are in pixels, y down.
type Recognized struct {
	Words         []RecognizedWord // in reading order
	Width, Height int
	DPI           int
	Language      string  // that was expected, as the recognizer calls it
	Sure          float64 // of the words, 0 to 1 on average
	Turned        int     // degrees that the picture was turned to the right
	Untried       bool    // nothing here sees whether it had to be turned
}

// RecognizedWord is a word of a picture. Y is that of its baseline, and Size that of its font.
type RecognizedWord struct {
	Text            string
	X0, X1, Y, Size float64
}
