package files_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

func encoded(t *testing.T, kind string, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch kind {
	case "png":
		fast := png.Encoder{CompressionLevel: png.BestSpeed} // how well is not what is tested, and takes a third of the time
		err = fast.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "gif":
		err = gif.Encode(&b, img, nil)
	case "bmp":
		err = bmp.Encode(&b, img)
	case "tiff":
		err = tiff.Encode(&b, img, &tiff.Options{Compression: tiff.Deflate})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// quarters is an image whose quarters are red, green, blue and white.
func quarters(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	colors := []color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}}
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, colors[2*(2*y/h)+2*x/w])
		}
	}
	return img
}

// book makes a notebook of cells, as Jupyter writes it.
func book(t *testing.T, cells ...map[string]any) string {
	t.Helper()
	data, err := json.MarshalIndent(map[string]any{
		"cells": append([]map[string]any{}, cells...), "nbformat": 4, "nbformat_minor": 5,
		"metadata": map[string]any{"kernelspec": map[string]any{"name": "python3"}, "language_info": map[string]any{"name": "python"}},
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

func code(source any, outputs ...map[string]any) map[string]any {
	return map[string]any{"cell_type": "code", "execution_count": 7, "source": source, "outputs": outputs}
}
