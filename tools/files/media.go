package files

import (
	"context"
	"fmt"
	"io"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
)

// soundSize is the largest sound that is passed on.
const soundSize = 2_000_000

// media answers for a binary file: an image or sound is passed on, of anything
// else the kind is told.
func (r *reader) media(ctx context.Context, s *source) (ReadFileOut, error) {
	switch {
	case r.pictures == nil && (isPicture(s.mime) || isSound(s.mime)):
		return s.named(), nil
	case isPicture(s.mime):
		return r.image(ctx, s)
	case isSound(s.mime):
		return s.sound()
	}
	return s.notShown("binary, not shown"), nil
}

// notShown tells what a binary file is.
func (s *source) notShown(why string) ReadFileOut {
	return ReadFileOut{Status: fmt.Sprintf("%s: %s; %s, %s, %s; next: %sbyte_offset=0 for a hex dump, or file_info",
		s.path, why, s.mime, textfile.Size(s.size), s.id, s.call)}
}

// named tells of an image or sound that another call passes on.
func (s *source) named() ReadFileOut {
	return ReadFileOut{Status: fmt.Sprintf("%s: %s, %s, %s; %sshows it", s.path, s.mime, textfile.Size(s.size), s.id, s.call)}
}

func isSound(mime string) bool {
	switch mime {
	case "audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/mp4":
		return true
	}
	return false
}

func (s *source) sound() (ReadFileOut, error) {
	if s.size > soundSize {
		return s.notShown(fmt.Sprintf("sound, larger than the %s that can be passed on", textfile.Size(soundSize))), nil
	}
	return ReadFileOut{
		Status: fmt.Sprintf("%s: sound; %s, %s, %s", s.path, s.mime, textfile.Size(s.size), s.id),
		Media:  []tools.Block{{Kind: tools.AudioBlock, Data: s.data, MIME: s.mime}},
	}, nil
}

func (r *reader) image(ctx context.Context, s *source) (ReadFileOut, error) {
	pic, err := r.pictures.show(ctx, io.NewSectionReader(s, 0, s.size), s.mime)
	if bad, ok := asPictureError(err); ok {
		return s.notShown("image, not shown: " + bad.Error()), nil
	}
	if err != nil {
		return ReadFileOut{}, s.fail(err)
	}
	status := fmt.Sprintf("%s: image, %dx%d; %s, %s, %s", s.path, pic.width, pic.height, s.mime, textfile.Size(s.size), s.id)
	if pic.how != "" {
		status += "; " + pic.how
	}
	return ReadFileOut{Status: status, Media: []tools.Block{pic.block}}, nil
}
