package conform_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools/internal/conform"
	"toolcrib/tools/internal/jsondoc"
)

// The official suite of draft 2020-12: that of JSON_SCHEMA_SUITE, a checkout of it, or the
// older one that a module in go.mod has in its test data.
func TestSuite(t *testing.T) {
	tests, remotes := suite(t)
	files, err := filepath.Glob(filepath.Join(tests, "*.json"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	load := func(uri string) (*jsondoc.Node, error) {
		name, ok := strings.CutPrefix(uri, "http://localhost:1234/")
		if !ok {
			return nil, errors.New("not in the suite")
		}
		return read(t, filepath.Join(remotes, filepath.FromSlash(name))), nil
	}
	cases, wrong := 0, 0
	for _, file := range files {
		for _, group := range read(t, file).Items {
			schema, err := conform.Compile(group.Get("schema"), "", load)
			for _, c := range group.Get("tests").Items {
				var problems []conform.Problem
				failed := err
				if failed == nil {
					problems, failed = schema.Validate(t.Context(), c.Get("data"))
				}
				cases++
				if valid := c.Get("valid").Raw == "true"; failed != nil || valid != (len(problems) == 0) {
					wrong++
					t.Logf("wrong: %s: %s: %s: %v %v", filepath.Base(file), group.Get("description").Text, c.Get("description").Text, problems, failed)
				}
			}
		}
	}
	t.Logf("suite of draft 2020-12: %d cases, %d wrong: %.2f %% right", cases, wrong, 100-100*float64(wrong)/float64(cases))
	if cases < 1000 || wrong*100 > cases {
		t.Error("less than 99 % right")
	}
}

func suite(t *testing.T) (tests, remotes string) {
	if dir := os.Getenv("JSON_SCHEMA_SUITE"); dir != "" {
		return filepath.Join(dir, "tests", "draft2020-12"), filepath.Join(dir, "remotes")
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata")
	if _, missing := os.Stat(dir); err != nil || missing != nil {
		t.Skip("needs: the module cache: it has the suite")
	}
	return filepath.Join(dir, "draft2020-12"), filepath.Join(dir, "remotes")
}

func read(t *testing.T, file string) *jsondoc.Node {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsondoc.Parse(string(data))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return doc.Root
}
