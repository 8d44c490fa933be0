package schema_test

import (
	"strings"
	"testing"

	"toolcrib/schema"
)

func TestNearest(t *testing.T) {
	known := []string{"path", "file_path", "pattern", "content", "files", "count", "max_per_file", "id"}
	for word, want := range map[string]string{
		"path":                       "path",
		"filePath":                   "file_path",
		"FILE-PATH":                  "file_path",
		"File Path":                  "file_path",
		"patern":                     "pattern",
		"apth":                       "path", // a swap is one edit
		"contents":                   "content",
		"file":                       "files",
		"max":                        "max_per_file", // a start
		"per_file":                   "max_per_file", // a part
		"counter":                    "count",
		"di":                         "",
		"x":                          "",
		"":                           "",
		"recursive":                  "",
		"日本語":                        "",
		strings.Repeat("path", 1000): "",
	} {
		if got := schema.Nearest(word, known); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", word, got, want)
		}
	}
	if got := schema.Nearest("x", nil); got != "" {
		t.Errorf("of none: %q", got)
	}
	if got := schema.Nearest("cat", []string{"car", "bat"}); got != "car" {
		t.Errorf("of equals the first: %q", got)
	}
}

func TestMisspelt(t *testing.T) {
	known := []string{"read_file", "web_search", "bash", "process_list"}
	for word, want := range map[string]string{
		"read_fil": "read_file", "ReadFile": "read_file", "raed_file": "read_file", "bahs": "bash",
		"create_file": "", "grep_search": "", "BashOutput": "", "nope": "", "process": "", "": "", strings.Repeat("bash", 50): "",
	} {
		if got := schema.Misspelt(word, known); got != want {
			t.Errorf("Misspelt(%.20q) = %q, want %q", word, got, want)
		}
	}
}
