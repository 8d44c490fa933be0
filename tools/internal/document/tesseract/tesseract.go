// Package tesseract reads the text of pictures by the program of that name, where it is
// installed (OCR).
//
// The program runs in the sandbox, without the network. It gets a picture on its standard
// input, without compression, so that it decodes nothing that a file has; and it is ended when
// its time is over. The package imports the sandbox and the contract of tools. Start at
// [Engine.With].
package tesseract

import (
	"bytes"
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

	once sync.Once
	room chan struct{} // for programs at a time
	mu   sync.Mutex
	have []string // languages
	when time.Time
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

// Languages returns those that are installed, as tesseract calls them.
func (e *Engine) Languages(ctx context.Context) ([]string, error) {
	const fresh = time.Minute
	if Find() == "" {
		return nil, errors.New(Missing)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.have != nil && time.Since(e.when) < fresh {
		return slices.Clone(e.have), nil
	}
	out, err := e.run(ctx, nil, "--list-langs")
	if err != nil {
		return nil, err
	}
	var have []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if line != "" && line != "osd" && line != "equ" && !strings.ContainsAny(line, " /") {
			have = append(have, line)
		}
	}
	if len(have) == 0 {
		return nil, errors.New("tesseract has no language; the user can install one, such as by `apt install tesseract-ocr-eng`")
	}
	e.have, e.when = have, time.Now()
	return slices.Clone(have), nil
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
}

func (r *recognizer) Ready(ctx context.Context) error {
	have, err := r.engine.Languages(ctx)
	if err != nil {
		return err
	}
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
var kept = diskcache.Cache{Folder: "ocr", Most: 64 << 20, AtOnce: 4 << 20}

func (r *recognizer) Begin(ctx context.Context, picture *image.Gray, dpi int) func() (document.Recognized, error) {
	e := r.engine
	e.once.Do(func() { e.room = make(chan struct{}, max(1, min(runtime.NumCPU(), 4))) })
	g, ctx := tools.NewGroup(ctx, 1)
	select {
	case e.room <- struct{}{}:
	case <-ctx.Done():
		return func() (document.Recognized, error) { return document.Recognized{}, errors.Join(ctx.Err(), g.Wait()) }
	}
	var text document.Recognized
	g.Go(func() (err error) {
		defer func() { <-e.room }()
		text, err = r.read(ctx, picture, dpi)
		return err
	})
	return func() (document.Recognized, error) {
		err := g.Wait()
		return text, err
	}
}

// read reads a picture with the languages to try first, and with all if that is not sure.
func (r *recognizer) read(ctx context.Context, picture *image.Gray, dpi int) (document.Recognized, error) {
	const sure = .75
	if r.first != "" && r.first != r.languages {
		if text, err := r.engine.read(ctx, picture, dpi, r.first); err != nil || text.Sure >= sure {
			return text, err
		}
	}
	return r.engine.read(ctx, picture, dpi, r.languages)
}

func (e *Engine) read(ctx context.Context, picture *image.Gray, dpi int, languages string) (document.Recognized, error) {
	head := fmt.Appendf(nil, "P5\n%d %d\n255\n", picture.Rect.Dx(), picture.Rect.Dy())
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s %d\n", Find(), languages, dpi)
	hash.Write(head)
	hash.Write(picture.Pix)
	key := diskcache.Key(hash.Sum(nil))
	out, _, ok := kept.Load(ctx, key, new(struct{}))
	if !ok {
		var err error
		input := io.MultiReader(bytes.NewReader(head), bytes.NewReader(picture.Pix))
		if out, err = e.run(ctx, input, "stdin", "stdout", "-l", languages, "--dpi", strconv.Itoa(dpi), "-c", "tessedit_create_hocr=1"); err != nil {
			return document.Recognized{}, err
		}
		if err := kept.Store(ctx, key, struct{}{}, out); err != nil && !errors.Is(err, diskcache.ErrNotKept) {
			tools.Log(ctx).Warn("the text of a picture is not kept", "err", err)
		}
	}
	text, err := parse(ctx, out)
	text.Language = languages
	return text, err
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
	p, err := e.Sandbox.Start(ctx, sandbox.Command{
		Tool: "parse_document", Args: append([]string{"tesseract"}, args...), Dir: dir,
		Env:   []string{"OMP_THREAD_LIMIT=1"}, // several pages are read at a time
		Stdin: theirsIn, Stdout: theirsOut, ReadOnly: true,
		Limits: sandbox.Limits{Memory: 2 << 30, FileSize: 1 << 20, Files: 256, Processes: 64},
	})
	_, _ = theirsIn.Close(), theirsOut.Close() // the program has its own
	if err != nil {
		return nil, errors.Join(err, toInput.Close(), fromOutput.Close())
	}
	g, within := tools.NewGroup(ctx, 3)
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
	err = errors.Join(g.Wait(), fromOutput.Close())
	switch exit := p.Exit(); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case exit.Err != nil:
		return nil, exit.Err
	case exit.Code != 0:
		return nil, fmt.Errorf("tesseract ended with exit code %d", exit.Code)
	}
	return out, nil
}
