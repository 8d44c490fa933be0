package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"toolcrib/.ci/measure/harness"
)

// mixed searches collections of files in all formats. A question is four words that stand
// together in a line of a file; they must stand together in one of the first three passages, of
// that file or of one with the same text in another format.
func mixed(ctx context.Context, env harness.Environment) (err error) {
	const questions, first, least = 20, 3, .95
	collections := env.Of(5, 1)
	base, dir, err := env.Scratch("mixed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	made := filepath.Join(base, "made")
	if err := os.Mkdir(made, 0o700); err != nil {
		return err
	}
	script := exec.CommandContext(ctx, "/usr/bin/python3", "-", made, fmt.Sprint(env.Of(72, 1)))
	script.Stdin = strings.NewReader(corpusScript)
	if say, err := script.CombinedOutput(); err != nil {
		return fmt.Errorf("making the files: %w: %s", err, say)
	}
	text, err := os.ReadFile(filepath.Join(made, "expected.json"))
	if err != nil {
		return err
	}
	expected := map[string]wanted{}
	if err := json.Unmarshal(text, &expected); err != nil {
		return err
	}
	var parts [][]string // files of each collection
	for i, name := range slices.Sorted(maps.Keys(expected)) {
		if i < collections {
			parts = append(parts, nil)
		}
		to := filepath.Join(dir, fmt.Sprint(i%collections), name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(made, name), to); err != nil {
			return err
		}
		parts[i%collections] = append(parts[i%collections], name)
	}
	server, err := harness.UseTools(ctx, env.Writer(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	r := rand.New(rand.NewPCG(1, 24))
	var wrong error
	for i, names := range parts {
		start := time.Now()
		search := func(query string) (string, error) {
			return server.Must("search_documents", map[string]any{"query": query, "paths": []string{fmt.Sprint(i)}, "limit": first, "max_tokens": 10_000})
		}
		for left := true; left; {
			answer, err := search("begin")
			if err != nil {
				return err
			}
			left = strings.Contains(answer, "not yet searched")
		}
		took := time.Since(start)
		right := 0
		for range questions {
			name := names[r.IntN(len(names))]
			line := lineOf(r, expected[name].Words)
			answer, err := search(strings.Join(line, " "))
			if err != nil {
				return err
			}
			if has(answer, line) {
				right++
			} else {
				fmt.Printf("  not among the first %d: %q of %s\n", first, line, name)
			}
		}
		fmt.Printf("collection %d: %d files read in %.1f s; %d of %d right passages among the first %d\n", i+1, len(names), took.Seconds(), right, questions, first)
		if float64(right) < least*questions {
			wrong = errors.New("too many passages are not found")
		}
	}
	return wrong
}

// lineOf returns four words that stand together in a line.
func lineOf(r *rand.Rand, text string) []string {
	const words = 4
	var lines [][]string
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) >= words {
			lines = append(lines, fields)
		}
	}
	line := lines[r.IntN(len(lines))]
	from := r.IntN(len(line) - words + 1)
	return line[from : from+words]
}

// has reports whether a passage has words that stand together.
func has(answer string, words []string) bool {
	want := strings.Join(letters(strings.Join(words, " ")), " ")
	for _, passage := range strings.Split(answer, "\n[")[1:] {
		if strings.Contains(strings.Join(letters(passage), " "), want) { // its headings count too
			return true
		}
	}
	return false
}

func letters(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// neighbours has two servers index one tree at once, of which one is killed at any time. The
// other one, and one that is started then, must find everything once.
func neighbours(ctx context.Context, env harness.Environment) error {
	const files = 300
	base, _, err := env.Scratch("neighbours")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	r := rand.New(rand.NewPCG(1, 25))
	lost, times := 0, env.Of(50, 1)
	for n := range times {
		dir := filepath.Join(base, fmt.Sprint(n))
		tree := map[string]string{}
		for i := range files {
			tree[fmt.Sprintf("%03d.md", i)] = fmt.Sprintf("# Page %d\n\nunique%d common %s\n", i, i, strings.Repeat(fmt.Sprintf("word%d ", r.IntN(1000)), 200))
		}
		if err := harness.WriteTree(dir, tree); err != nil {
			return err
		}
		missing, err := killOne(ctx, env, dir, files, time.Duration(r.IntN(400))*time.Millisecond)
		if err != nil {
			return err
		}
		lost += missing
		if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+".state")); err != nil {
			return err
		}
	}
	fmt.Printf("two servers index one tree, one is killed, %d times: %d of %d passages lost or found twice\n", times, lost, times*files)
	if lost > 0 {
		return errors.New("the index is not right")
	}
	return nil
}

// killOne returns how many passages are not found exactly once.
func killOne(ctx context.Context, env harness.Environment, dir string, files int, after time.Duration) (wrong int, err error) {
	var servers []*harness.ToolUser
	var commands []*exec.Cmd
	start := func() (*harness.ToolUser, error) {
		program := env.Writer(dir).Args
		cmd := exec.CommandContext(ctx, program[0], program[1:]...)
		server, err := harness.UseCommand(cmd)
		if err == nil {
			servers, commands = append(servers, server), append(commands, cmd)
		}
		return server, err
	}
	search := func(server *harness.ToolUser, query string) (string, error) {
		return server.Must("search_documents", map[string]any{"query": query, "mode": "keyword", "limit": 5})
	}
	for range 2 {
		if _, err := start(); err != nil {
			return 0, err
		}
	}
	done := make(chan error, 2)
	for i, server := range servers {
		go func() {
			_, err := search(server, "common")
			if i == 0 {
				err = nil // it may be killed
			}
			done <- err
		}()
	}
	time.Sleep(after)
	if err := commands[0].Process.Kill(); err != nil {
		return 0, err
	}
	if err := errors.Join(<-done, <-done); err != nil {
		return 0, err
	}
	last, err := start()
	if err != nil {
		return 0, err
	}
	for i := range files {
		answer, err := search(last, fmt.Sprintf("unique%d", i))
		if err != nil {
			return 0, err
		}
		if strings.Count(answer, "\n[") != 1 || !strings.Contains(answer, fmt.Sprintf("[%03d.md:3;", i)) {
			wrong++
		}
	}
	_ = servers[0].Close() // it was killed
	return wrong, errors.Join(servers[1].Close(), last.Close())
}
