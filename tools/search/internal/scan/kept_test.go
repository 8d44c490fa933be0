package scan_test

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/search/internal/match"
	"toolcrib/tools/search/internal/scan"
	"toolcrib/workspace"
)

// kept is a source whose content is in memory, as another says that reads it.
type kept struct{ *keeping }

type keeping struct {
	bytes.Reader
	text  []byte
	taken bool
}

func newKept(text string) kept {
	k := &keeping{text: []byte(text)}
	k.Reset(k.text)
	return kept{k}
}

func (k kept) OpenBy(*workspace.Opener) (workspace.File, error) {
	if len(k.text)%3 == 0 {
		return &opened{Reader: bytes.NewReader(k.text), size: int64(len(k.text))}, nil
	}
	return k.keeping, nil
}
func (k kept) Whole([]byte)                   {}
func (k kept) Parts() iter.Seq2[int64, int64] { return nil }

func (k *keeping) Rest() []byte {
	k.Reset(nil)
	k.taken = true
	return k.text
}
func (k *keeping) Info() workspace.Info { return workspace.Info{Size: int64(len(k.text))} }
func (k *keeping) Close() error         { return nil }

// What is in memory is searched as what is read is, and stays as it is.
func TestKept(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	pieces := []string{"foo", "bar", " ", "\n", "\n", "\r\n", "\r", "\x00", "\xff", "\ufeff", "f\x00o\x00o\x00\n\x00", "foo\n"}
	var texts []string
	for i := range 400 {
		var b strings.Builder
		b.WriteString([]string{"", "", "", "\ufeff", "\xff\xfe"}[i%5])
		for range rnd.IntN(40) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		if i%40 == 7 {
			b.WriteString(strings.Repeat("foo bar\r\n", 40_000))
		}
		texts = append(texts, b.String())
	}
	for _, p := range []match.Pattern{{Text: "foo"}, {Text: `fo+\b`}, {Text: `foo\n+bar`, Multiline: true}, {Text: `foo\s`, Multiline: true}, {Text: "bar$", Multiline: true}} {
		for _, opt := range []scan.Options{{Keep: 2}, {Keep: 100, Before: 1, After: 2}, {First: true}, {}} {
			var want, got []scan.Found
			var read []file
			var held []kept
			for _, text := range texts {
				read, held = append(read, file{text: text}), append(held, newKept(text))
			}
			for f := range scan.Files(t.Context(), slices.Values([][]file{read}), compile(t, p), opt) {
				want = append(want, f.Found)
			}
			opt.Buffers = new(scan.Buffers)
			for f := range scan.Files(t.Context(), slices.Values([][]kept{held}), compile(t, p), opt) {
				got = append(got, f.Found)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%+v, %+v: %s", p, opt, diff)
			}
			taken := 0
			for i, k := range held {
				if string(k.text) != texts[i] {
					t.Errorf("%+v: %.50q became %.50q", p, texts[i], k.text)
				}
				if k.taken {
					taken++
				}
			}
			if taken < len(texts)/2 {
				t.Errorf("only %d of %d were taken from memory", taken, len(texts))
			}
		}
	}
}
