// Package tesseract reads the text of pictures by the program of that name, where it is
// installed (OCR).
//
// The program runs in the sandbox, without the network. It gets a picture on its standard
// input, without compression, so that it decodes nothing that a file has; and it is ended when
// its time is over. The package imports the sandbox and the contract of tools. Start at
// [Engine.With].
package tesseract

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/diskcache"
	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/programs/sandbox"
)

// Engine runs tesseract for the calls of a process.
type Engine struct {
	Sandbox *sandbox.Engine

	once  sync.Once
	room  chan struct{} // for programs at a time
	mu    sync.Mutex
	have  []string // languages
	turns bool
	when  time.Time
}

// Missing says how to get the program.
const Missing = "tesseract is not installed; the user can install it, such as by `apt install tesseract-ocr`, with a package for each language, such as tesseract-ocr-deu"

// Find returns the file of the program, "" = it is not on PATH.
func Find() string {
	file, err := exec.LookPath("tesseract")
	if err != nil {
		return ""
	}
	return file
}

// Languages returns those that are installed, as tesseract calls them. turns reports whether it
// can see that a page is turned.
func (e *Engine) Languages(ctx context.Context) (languages []string, turns bool, err error) {
	const fresh = time.Minute
	if Find() == "" {
		return nil, false, errors.New(Missing)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.have != nil && time.Since(e.when) < fresh {
		return slices.Clone(e.have), e.turns, nil
	}
	out, err := e.run(ctx, nil, "--list-langs")
	if err != nil {
		return nil, false, err
	}
	for line := range strings.Lines(string(out)) {
		switch line = strings.TrimSpace(line); {
		case line == orientation:
			turns = true
		case line != "" && line != "equ" && !strings.ContainsAny(line, " /"):
			languages = append(languages, line)
		}
	}
	if len(languages) == 0 {
		return nil, false, errors.New("tesseract has no language; the user can install one, such as by `apt install tesseract-ocr-eng`")
	}
	e.have, e.turns, e.when = languages, turns, time.Now()
	return slices.Clone(languages), turns, nil
}

// mostLanguages is how many are used if the user has chosen none: each takes its time, and
// adds its mistakes.
const mostLanguages = 3

// usual returns the languages to read with if none were chosen, and those to try first, which
// are several times faster without the others.
func usual(have []string) (all, first []string) {
	if i := slices.Index(have, "eng"); i > 0 {
		have = slices.Concat([]string{"eng"}, have[:i], have[i+1:])
	}
	all = have[:min(len(have), mostLanguages)]
	for _, language := range all {
		base, _, _ := strings.Cut(language, "_")
		if !slices.Contains(otherScripts, base) {
			first = append(first, language)
		}
	}
	if len(first) == 0 {
		first = all
	}
	return all, first
}

// otherScripts are languages that are not written in Latin letters: with these, such a text is
// read as nonsense, and surely so.
var otherScripts = []string{
	"amh", "ara", "bel", "ben", "bul", "chi", "ell", "fas", "grc", "guj", "heb", "hin", "hye", "jpn", "kan", "kat", "kaz", "khm", "kor",
	"lao", "mal", "mar", "mkd", "mon", "mya", "nep", "pan", "pus", "rus", "sin", "srp", "tam", "tel", "tha", "tib", "uig", "ukr", "urd", "yid",
}

// With returns a recognizer for languages, such as "eng+deu"; "" = those that are installed.
func (e *Engine) With(languages string) document.Recognizer {
	return &recognizer{engine: e, languages: languages}
}

// recognizer is a [document.Recognizer].
type recognizer struct {
	engine    *Engine
	languages string // "" until Ready has chosen
	first     string // languages to try first, unless these were chosen
	turns     bool   // it can see that a page is turned
}

func (r *recognizer) Ready(ctx context.Context) error {
	have, turns, err := r.engine.Languages(ctx)
	if err != nil {
		return err
	}
	r.turns = turns
	if r.languages == "" {
		all, first := usual(have)
		r.languages, r.first = strings.Join(all, "+"), strings.Join(first, "+")
	}
	for language := range strings.SplitSeq(r.languages, "+") {
		if !slices.Contains(have, language) {
			return fmt.Errorf("tesseract does not have the language %q; it has %s", language, strings.Join(have, ", "))
		}
	}
	return nil
}

// kept has what was recognized, by the pictures.
var kept = diskcache.Cache{Folder: "ocr", Most: 64 << 20}

func (r *recognizer) Begin(ctx context.Context, id string, draw func() (*image.Gray, int, error)) (func() (document.Recognized, error), error) {
	const edition = 1 // of what is kept
	key := diskcache.Key(sha256.Sum256(fmt.Appendf(nil, "%d %q", edition, []string{Find(), r.languages, r.first, strconv.FormatBool(r.turns), id})))
	var text document.Recognized
	if id != "" {
		if _, _, ok := kept.Load(ctx, key, &text); ok {
			return func() (document.Recognized, error) { return text, nil }, nil
		}
	}
	picture, dpi, err := draw()
	if err != nil {
		return nil, err
	}
	e := r.engine
	e.once.Do(func() { e.room = make(chan struct{}, max(1, min(runtime.NumCPU(), 4))) })
	g, ctx := tools.NewGroup(ctx, 1)
	select {
	case e.room <- struct{}{}:
	case <-ctx.Done():
		return func() (document.Recognized, error) { return document.Recognized{}, errors.Join(ctx.Err(), g.Wait()) }, nil
	}
	g.Go(func() (err error) {
		defer func() { <-e.room }()
		if text, err = r.read(ctx, picture, dpi); err != nil || id == "" {
			return err
		}
		if err := kept.Store(ctx, key, text, nil); err != nil && !errors.Is(err, diskcache.ErrNotKept) {
			tools.Log(ctx).Warn("the text of a picture is not kept", "err", err)
		}
		return nil
	})
	return func() (document.Recognized, error) {
		err := g.Wait()
		return text, err
	}, nil
}

// read reads a picture with the languages to try first. If that is not sure, the page may be
// turned, or be written in one of the others.
func (r *recognizer) read(ctx context.Context, picture *image.Gray, dpi int) (document.Recognized, error) {
	const sure = .75
	first := cmp.Or(r.first, r.languages)
	text, err := r.engine.read(ctx, picture, dpi, first)
	if err != nil || text.Sure >= sure {
		return text, err
	}
	degrees := 0
	if r.turns {
		upright, by, err := r.engine.upright(ctx, picture, dpi)
		if err != nil {
			return text, err
		}
		if by != 0 {
			again, err := r.engine.read(ctx, upright, dpi, first)
			if err != nil {
				return again, err
			}
			if again.Sure > text.Sure {
				text, picture, degrees = again, upright, by
			}
		}
	}
	if text.Sure < sure && first != r.languages {
		text, err = r.engine.read(ctx, picture, dpi, r.languages)
	}
	text.Turned, text.Untried = degrees, !r.turns
	return text, err
}

func (e *Engine) read(ctx context.Context, picture *image.Gray, dpi int, languages string) (document.Recognized, error) {
	out, err := e.ask(ctx, picture, dpi, "-l", languages, "-c", "tessedit_create_hocr=1")
	if err != nil {
		return document.Recognized{}, err
	}
	text, sideways, err := parse(ctx, out)
	if sideways && !strings.Contains(languages, "_vert") {
		text.Sure = 0
	}
	text.Language, text.Width, text.Height, text.DPI = languages, picture.Rect.Dx(), picture.Rect.Dy(), dpi
	return text, err
}

// ask returns what the program prints about a picture.
func (e *Engine) ask(ctx context.Context, picture *image.Gray, dpi int, args ...string) ([]byte, error) {
	head := fmt.Sprintf("P5\n%d %d\n255\n", picture.Rect.Dx(), picture.Rect.Dy())
	input := io.MultiReader(strings.NewReader(head), bytes.NewReader(picture.Pix))
	return e.run(ctx, input, append([]string{"stdin", "stdout", "--dpi", strconv.Itoa(dpi)}, args...)...)
}

// run runs the program and returns what it prints. Its input may be nil.
func (e *Engine) run(ctx context.Context, input io.Reader, args ...string) ([]byte, error) {
	const most = 16 << 20 // bytes that it prints
	dir, err := tools.Resolve(ctx, ".")
	if err != nil {
		return nil, err
	}
	theirsIn, toInput, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromOutput, theirsOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirsIn.Close(), toInput.Close())
	}
	fromErrors, theirsErrors, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirsIn.Close(), toInput.Close(), fromOutput.Close(), theirsOut.Close())
	}
	p, err := e.Sandbox.Start(ctx, sandbox.Command{
		Tool: "parse_document", Args: append([]string{"tesseract"}, args...), Dir: dir,
		Env:   []string{"OMP_THREAD_LIMIT=1"}, // several pages are read at a time
		Stdin: theirsIn, Stdout: theirsOut, Stderr: theirsErrors, ReadOnly: true,
		Limits: sandbox.Limits{Memory: 2 << 30, FileSize: 1 << 20, Files: 256, Processes: 64},
	})
	_, _, _ = theirsIn.Close(), theirsOut.Close(), theirsErrors.Close() // the program has its own
	if err != nil {
		return nil, errors.Join(err, toInput.Close(), fromOutput.Close(), fromErrors.Close())
	}
	g, within := tools.NewGroup(ctx, 4)
	g.Go(func() error {
		if input != nil {
			_, _ = io.Copy(toInput, input) // a program that has ended takes none
		}
		return toInput.Close()
	})
	var out []byte
	g.Go(func() (err error) {
		out, err = io.ReadAll(io.LimitReader(fromOutput, most+1))
		if err == nil && len(out) > most {
			err = fmt.Errorf("it printed more than %d bytes", most)
		}
		return err
	})
	var say string
	g.Go(func() (err error) {
		say, err = lastLine(fromErrors)
		return err
	})
	g.Go(func() error {
		select {
		case <-p.Done():
		case <-within.Done():
			p.Kill()
			<-p.Done()
		}
		_ = toInput.SetWriteDeadline(time.Now())
		return within.Err()
	})
	err = errors.Join(g.Wait(), fromOutput.Close(), fromErrors.Close())
	switch exit := p.Exit(); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case exit.Err != nil:
		return nil, exit.Err
	case exit.Code != 0 && say != "":
		return nil, fmt.Errorf("tesseract ended with exit code %d: %s", exit.Code, say)
	case exit.Code != 0:
		return nil, fmt.Errorf("tesseract ended with exit code %d", exit.Code)
	}
	return out, nil
}

// lastLine reads to the end and returns the last line that is not empty, as it can be shown.
func lastLine(r io.Reader) (string, error) {
	const longest = 300
	last := ""
	lines := bufio.NewReaderSize(r, longest)
	for {
		line, cut, err := lines.ReadLine()
		switch {
		case errors.Is(err, io.EOF):
			return last, nil
		case err != nil:
			return last, err
		}
		if text := strings.TrimSpace(tools.Visible(strings.ToValidUTF8(string(line), "\uFFFD"))); text != "" {
			last = text
		}
		for cut && err == nil {
			_, cut, err = lines.ReadLine()
		}
	}
}
