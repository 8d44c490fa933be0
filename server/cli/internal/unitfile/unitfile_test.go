package unitfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/server/cli/internal/unitfile"
)

func TestDo(t *testing.T) {
	home := t.TempDir()
	words := []string{"/opt/tool crib/toolcrib", "schedule", "run", `--a=100% "$HOME"`, "/srv/<x>\n"}
	for system, want := range map[string]string{
		"linux":  `ExecStart="/opt/tool crib/toolcrib" "schedule" "run" "--a=100%% \"$$HOME\"" "/srv/<x>\n"`,
		"darwin": "<string>/srv/&lt;x&gt;&#xA;</string>",
	} {
		var out strings.Builder
		if err := unitfile.Do(true, &out, system, home, []string{"/srv/<x>\n"}, words); err != nil {
			t.Fatal(err)
		}
		file, _, _ := strings.Cut(out.String(), " is written")
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), want) || !strings.HasPrefix(file, home+string(filepath.Separator)) {
			t.Errorf("%s: %s\n%s%v", system, file, text, err)
		}
		link := filepath.Join(filepath.Dir(file), "default.target.wants", filepath.Base(file))
		if system == "linux" { // as the user enables it
			if err := errors.Join(os.Mkdir(filepath.Dir(link), 0o700), os.Symlink(file, link)); err != nil {
				t.Fatal(err)
			}
		}
		if err := unitfile.Do(false, &out, system, home, []string{"/srv/<x>\n"}, words); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(link); !errors.Is(err, fs.ErrNotExist) || strings.Contains(out.String(), "disable") {
			t.Errorf("what was enabled is there: %v, and said was %s", err, out.String())
		}
		if err := unitfile.Do(false, &out, system, home, []string{"/srv/<x>\n"}, words); err == nil {
			t.Error("what is not there was removed")
		}
	}
	if err := unitfile.Do(true, new(strings.Builder), "plan9", home, nil, words); err == nil {
		t.Error("plan9 has a unit")
	}
}
