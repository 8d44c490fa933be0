package server_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"toolcrib/server"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const conversations = "../testdata/wire"

// TestConversations plays testdata/wire/*.txtar: the lines of "client" go to a
// server of toys, one after the other, each when everything before it has come
// to rest; then stdin ends. "server" is what the server wrote, with "..."
// between the lines of two client lines. In client lines
//
//	$STATE     is the requestState that the server gave last
//	$FORM      is the id of the form that it gave last
//	$TASK      is the id of the task that it gave last
//	!pad N x   is the line x and N more bytes
//	!wait D    is no line: time passes
//
// With a section "offers" the server has resources, prompts and more tools too, with a
// section "tasks" tools whose calls last.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(conversations, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations in %s: %v", conversations, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { converse(t, file) })
		})
	}
}

var (
	stateRule = regexp.MustCompile(`"requestState":"([^"]*)"`)
	taskRule  = regexp.MustCompile(`"taskId":"(task_[^"]*)"`)
	formRule  = regexp.MustCompile(`"inputRequests":\{"([^"]*)"`)
	crashRule = regexp.MustCompile(`crashed, error [0-9A-Z]{8}-[0-9a-z]+`)
)

func converse(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var more []func(*server.Options)
	if hasSection(archive, "offers") {
		more = append(more, offers)
	}
	if hasSection(archive, "tasks") {
		more = append(more, lastingToys)
	}
	c := connect(t, newServer(t, more...))
	var got strings.Builder
	var state, form, task string
	rest := func() {
		time.Sleep(10 * time.Millisecond) // an answer may follow its progress by some
		synctest.Wait()
		for _, line := range c.take() {
			if m := stateRule.FindStringSubmatch(line); m != nil {
				state = m[1]
			}
			if m := formRule.FindStringSubmatch(line); m != nil {
				form = m[1]
			}
			if form != "" {
				line = strings.ReplaceAll(line, `"`+form+`"`, `"$FORM"`)
			}
			if m := taskRule.FindStringSubmatch(line); m != nil {
				task = m[1]
			}
			if task != "" {
				line = strings.ReplaceAll(line, task, "$TASK")
			}
			line = crashRule.ReplaceAllString(line, "crashed, error $$ID")
			line = stateRule.ReplaceAllString(line, `"requestState":"$$STATE"`)
			fmt.Fprintln(&got, line)
		}
	}
	for line := range strings.Lines(section(archive, "client")) {
		line = strings.TrimSuffix(line, "\n")
		if pad, ok := strings.CutPrefix(line, "!pad "); ok {
			count, head, _ := strings.Cut(pad, " ")
			n, err := strconv.Atoi(count)
			if err != nil {
				t.Fatal(err)
			}
			line = head + strings.Repeat("x", n)
		}
		if wait, ok := strings.CutPrefix(line, "!wait "); ok {
			d, err := time.ParseDuration(wait)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
			rest()
			fmt.Fprintln(&got, "...")
			continue
		}
		c.send(strings.NewReplacer("$STATE", state, "$FORM", form, "$TASK", task).Replace(line))
		rest()
		fmt.Fprintln(&got, "...")
	}
	c.in.Close()
	if err := c.wait(); err != nil {
		t.Error(err)
	}
	rest()

	if *update {
		archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "server" })
		archive.Files = append(archive.Files, txtar.File{Name: "server", Data: []byte(got.String())})
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := strings.Split(section(archive, "server"), "\n")
	if diff := cmp.Diff(want, strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("-want +got:\n%s\nto accept: go test ./server -run Conversations -update", diff)
	}
}

func hasSection(a *txtar.Archive, name string) bool {
	return slices.ContainsFunc(a.Files, func(f txtar.File) bool { return f.Name == name })
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}
