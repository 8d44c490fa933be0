package protect_test

import (
	"testing"

	"toolcrib/workspace/protect"
)

func TestByName(t *testing.T) {
	for _, tc := range []struct {
		path      string
		file, dir bool // protected as the path of a file, of what may be a directory
	}{
		{".git/hooks/pre-commit", true, true},
		{".git/config", true, true},
		{"/home/u/repo/.git/config", true, true},
		{"a/b/../.git/x/../config", true, true},
		{".GIT/Hooks/x", true, true},
		{`.git\hooks\x`, true, true},
		{".git./hooks ./x", true, true},
		{".git::$INDEX_ALLOCATION/config", true, true},
		{"GIT~1/config", true, true},
		{".g\u200cit/config", true, true},
		{".g\ufeffit/config", true, true},
		{".mcp.\uff4ason", false, false}, // a full-width letter is another letter
		{".\u212alaude/x", false, false},
		{".vscode/tas\u212as.json", true, true}, // the Kelvin sign folds to k
		{".v\u017fcode/mcp.json", true, true},   // the long s folds to s
		{".git", true, true},
		{".vscode", false, true},
		{".vscode/mcp.json", true, true},
		{".vscode/launch.json", false, false},
		{".claude/settings.json", true, true},
		{".cursor/rules/x.mdc", true, true},
		{".mcp.json", true, true},
		{".gitignore", false, false},
		{".github/workflows/ci.yml", false, false},
		{"git/config", false, false},
		{".git/index", true, true},
		{".git/commondir", true, true},
		{"docs/claude.md", false, false},
		{"", false, false},
	} {
		if got := protect.ByName(tc.path, false); got != tc.file {
			t.Errorf("file %q: protected %t, want %t", tc.path, got, tc.file)
		}
		if got := protect.ByName(tc.path, true); got != tc.dir {
			t.Errorf("directory %q: protected %t, want %t", tc.path, got, tc.dir)
		}
	}
}
