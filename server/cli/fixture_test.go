package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolcrib/server"
	"toolcrib/server/cli"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

type echoIn struct {
	Text string `json:"text" jsonschema_description:"what to say"`
}

type textOut struct{ text string }

func (o textOut) Text() string { return o.text }

type eraseIn struct {
	Path string `json:"path" path:"any" jsonschema_description:"what to erase"`
}

type noneIn struct{}

type imageOut struct{}

func (imageOut) Content() []tools.Block {
	return []tools.Block{
		tools.Text("a dot"),
		{Kind: tools.ImageBlock, Data: []byte{1, 2, 3}, MIME: "image/png"},
		{Kind: tools.LinkBlock, URI: "toolcrib://dot", Name: "dot"},
	}
}

// pageOut is a page; rest is what the next ones say.
type pageOut struct {
	textOut
	rest string
}

func (o pageOut) Meta() map[string]any {
	if o.rest == "" {
		return nil
	}
	return map[string]any{tools.MetaNext: map[string]any{"text": o.rest}}
}

// fixtures is a small catalog: one tool of each sort that a command treats
// differently. erased is where the tool that asks notes what it did.
func fixtures(erased *[]string) []tools.Tool {
	return []tools.Tool{
		tools.New(tools.Def[echoIn, pageOut]{
			Name: "echo", Title: "Say it again", Doc: "Says the text again.\n\nThe manual of echo.", Aliases: []string{"say"},
			Access: tools.Read, Effects: tools.None, Repeatable: true,
			Run: func(_ context.Context, in echoIn) (pageOut, error) {
				if in.Text == "" {
					return pageOut{}, tools.Errorf(tools.InvalidArgument, "nothing to say").WithHint("give a text")
				}
				page, rest, _ := strings.Cut(in.Text, "\f")
				return pageOut{textOut{page + "\n"}, rest}, nil
			},
		}),
		tools.New(tools.Def[eraseIn, textOut]{
			Name: "erase", Title: "Erase", Doc: "Erases a path.",
			Access: tools.Write, Effects: tools.Workspace | tools.Destroys,
			Confirm: func(_ context.Context, in eraseIn) (tools.Question, error) {
				return tools.Question{Message: "erase " + in.Path}, nil
			},
			Run: func(_ context.Context, in eraseIn) (textOut, error) {
				*erased = append(*erased, in.Path)
				return textOut{"erased " + in.Path}, nil
			},
		}),
		tools.New(tools.Def[noneIn, imageOut]{
			Name: "dot", Title: "Draw a dot", Doc: "Draws a dot.", Access: tools.Read, Effects: tools.None,
			Run: func(context.Context, noneIn) (imageOut, error) { return imageOut{}, nil },
		}),
		tools.New(tools.Def[noneIn, textOut]{
			Name: "quiz", Title: "Ask", Doc: "Asks the user.", Access: tools.Read, Effects: tools.None,
			Run: quiz,
		}),
		tools.New(tools.Def[noneIn, textOut]{
			Name: "fly", Title: "Fly", Doc: "Flies.", Access: tools.External, Effects: tools.Network,
			Needs: []tools.Need{{Env: "TOOLCRIB_WINGS", How: "buy wings"}},
			Run:   func(context.Context, noneIn) (textOut, error) { return textOut{"up"}, nil },
		}),
	}
}

func quiz(ctx context.Context, _ noneIn) (textOut, error) {
	answer, err := tools.Ask(ctx, tools.Form{Message: "a quiz", Fields: []tools.FormField{
		{Name: "color", Title: "Colour", Type: "string", Choices: []string{"red", "blue"}, Required: true},
		{Name: "count", Type: "integer", Required: true},
		{Name: "sure", Type: "boolean"},
	}})
	if err != nil {
		return textOut{}, err
	}
	values, err := json.Marshal(answer.Values)
	return textOut{fmt.Sprintf("%s %s", answer.Action, values)}, err
}

// invocation is one run of the program.
type invocation struct {
	args     []string
	env      []string
	stdin    io.Reader    // nil = empty
	stdout   io.Writer    // takes what start would return; nil = it returns it
	stderr   io.Writer    // likewise
	terminal bool         // stdin and stderr are one
	programs []string     // on PATH
	catalog  []tools.Tool // nil = fixtures
	// categories take the place of catalog, nil = the settings of all and the tools of that.
	categories []tools.Category
	fixtures   server.Fixtures
}

// start runs the program in the current directory; its state is kept outside.
func (in invocation) start(t *testing.T) (stdout, stderr string, code int) {
	t.Helper()
	if in.stdin == nil {
		in.stdin = strings.NewReader("")
	}
	if in.catalog == nil {
		in.catalog = fixtures(new([]string))
	}
	if in.categories == nil {
		in.categories = offering(in.catalog...)
	}
	var out, errs bytes.Buffer
	if in.stdout == nil {
		in.stdout = &out
	}
	if in.stderr == nil {
		in.stderr = &errs
	}
	code = cli.Main(t.Context(), cli.Process{
		Args:       in.args,
		Environ:    append([]string{"TOOLCRIB_STATE_DIR=" + t.TempDir()}, in.env...),
		Stdin:      in.stdin,
		Stdout:     in.stdout,
		Stderr:     in.stderr,
		IsTerminal: func(stream any) bool { return in.terminal && stream != io.Writer(&out) },
		LookPath: func(file string) (string, error) {
			if slices.Contains(in.programs, file) {
				return "/bin/" + file, nil
			}
			return "", &fs.PathError{Op: "look", Path: file, Err: errors.New("not found")}
		},
		Categories: in.categories,
		Fixtures:   in.fixtures,
	})
	return out.String(), errs.String(), code
}

// offering returns categories with these tools, and with the settings of all that there are.
func offering(list ...tools.Tool) []tools.Category {
	all := catalog.All(new(catalog.Services))
	for i, c := range all {
		all[i] = tools.Category{ID: c.ID, Settings: c.Settings}
	}
	return append(all, tools.Category{ID: "cli_test", Title: "Tests", Tools: list})
}

// inProject makes an empty directory the current one and returns its name.
func inProject(t *testing.T) string {
	t.Helper()
	t.Chdir(t.TempDir())
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// program is built once for all tests that start it.
var program struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if program.dir != "" {
		_ = os.RemoveAll(program.dir) // in the directory of temporary files
	}
	os.Exit(code)
}

func build() {
	if program.dir, program.err = os.MkdirTemp("", "toolcrib-test"); program.err != nil {
		return
	}
	cmd := exec.Command("go", "build", "-o", filepath.Join(program.dir, "toolcrib"), "toolcrib")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		program.err = fmt.Errorf("%w: %s", err, out)
	}
}

// built returns the file of the program.
func built(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs: the go command")
	}
	program.once.Do(build)
	if program.err != nil {
		t.Fatal(program.err)
	}
	return filepath.Join(program.dir, "toolcrib")
}
