package view

import (
	"context"
	"errors"
	"fmt"
	"io"

	"toolcrib/tools"
	"toolcrib/tools/internal/picture"
	"toolcrib/tools/internal/text/textfile"
)

// SoundSize is the largest sound that is passed on.
const SoundSize = 2_000_000

// media returns the window of a binary file: the image or sound, or only the kind of any other
// file.
func (r *Reader) media(ctx context.Context, s *Source) (Window, error) {
	switch {
	case r.Pictures == nil && (picture.Supported(s.Mime) || isSound(s.Mime)):
		return s.named(), nil
	case picture.Supported(s.Mime):
		return r.image(ctx, s)
	case isSound(s.Mime):
		return s.sound()
	}
	return s.notShown("binary, not shown"), nil
}

// notShown describes a binary file.
func (s *Source) notShown(why string) Window {
	next := ""
	if s.Mime == "application/pdf" || s.Mime == "application/zip" {
		next = "parse_document for the text of a document or an archive, "
	}
	return Window{Status: fmt.Sprintf("%s: %s; %s, %s, %s; next: %s%sbyte_offset=0 for a hex dump, or file_info",
		s.Path, why, s.Mime, textfile.Size(s.Size), s.ID(), next, s.Call)}
}

// named names an image or sound and the call that returns it.
func (s *Source) named() Window {
	return Window{Status: fmt.Sprintf("%s: %s, %s, %s; %sshows it", s.Path, s.Mime, textfile.Size(s.Size), s.ID(), s.Call)}
}

func isSound(mime string) bool {
	switch mime {
	case "audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/mp4":
		return true
	}
	return false
}

func (s *Source) sound() (Window, error) {
	if s.Size > SoundSize {
		return s.notShown(fmt.Sprintf("sound, larger than the %s that can be passed on", textfile.Size(SoundSize))), nil
	}
	return Window{
		Status: fmt.Sprintf("%s: sound; %s, %s, %s", s.Path, s.Mime, textfile.Size(s.Size), s.ID()),
		Media:  []tools.Block{{Kind: tools.AudioBlock, Data: s.Data, MIME: s.Mime}},
	}, nil
}

func (r *Reader) image(ctx context.Context, s *Source) (Window, error) {
	pic, err := r.Pictures.Show(ctx, io.NewSectionReader(s, 0, s.Size), s.Mime)
	if bad, ok := errors.AsType[*picture.Error](err); ok {
		return s.notShown("image, not shown: " + bad.Error()), nil
	}
	if err != nil {
		return Window{}, s.fail(err)
	}
	status := fmt.Sprintf("%s: image, %dx%d; %s, %s, %s", s.Path, pic.Width, pic.Height, s.Mime, textfile.Size(s.Size), s.ID())
	if pic.How != "" {
		status += "; " + pic.How
	}
	return Window{Status: status, Media: []tools.Block{pic.Block}}, nil
}
