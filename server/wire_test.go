package server_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
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
//	!pad N x   is the line x and N more bytes
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
	formRule  = regexp.MustCompile(`"inputRequests":\{"([^"]*)"`)
)

func converse(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, newServer(t))
	var got strings.Builder
	var state, form string
	rest := func() {
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
		c.send(strings.NewReplacer("$STATE", state, "$FORM", form).Replace(line))
		rest()
		fmt.Fprintln(&got, "...")
	}
	c.in.Close()
	if err := c.wait(); err != nil {
		t.Error(err)
	}
	rest()

	if *update {
		archive.Files = []txtar.File{
			{Name: "client", Data: []byte(section(archive, "client"))},
			{Name: "server", Data: []byte(got.String())},
		}
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

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}
