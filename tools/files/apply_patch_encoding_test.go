package files_test

import (
	"strings"
	"testing"

	"toolcrib/tools/files"
)

// A character that is new to a file whose encoding is only guessed is written when
// the caller names the encoding.
func TestApplyPatchEncoding(t *testing.T) {
	const text = "*** Begin Patch\n*** Update File: latin.txt\n-x\n+ñ\n*** End Patch\n"
	r := newPatcher(t, files.Deps{}, map[string]string{"latin.txt": "caf\xe9\nx\n"})
	if got := r.try(map[string]any{"patch": text}); !strings.Contains(got, "could only be guessed") {
		t.Error(got)
	}
	if got := r.try(map[string]any{"patch": text, "encoding": "windows-125"}); !strings.Contains(got, "no encoding is called") {
		t.Error(got)
	}
	if got := r.call(map[string]any{"patch": text, "encoding": "windows-1252"}); !strings.HasPrefix(got, "patched 1 file") {
		t.Error(got)
	}
	if got, want := r.content("latin.txt"), "caf\xe9\n\xf1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// An edit may be named as models name it.
func TestEditFileOldAndNew(t *testing.T) {
	for _, tool := range files.Tools(files.Deps{}) {
		if tool.Name != "edit_file" {
			continue
		}
		for _, raw := range []string{`{"path":"a","edits":[{"old":"x","new":"y"}]}`, `{"path":"a","old":"x","new":"y"}`} {
			if _, err := tool.Bind([]byte(raw)); err != nil {
				t.Errorf("%s: %v", raw, err)
			}
		}
	}
}
