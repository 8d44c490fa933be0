package server_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// Every field can be set by a flag and by a variable, whose names go together; what
// only the file sets is none of them.
func TestConfigTags(t *testing.T) {
	for f := range reflect.TypeFor[server.Config]().Fields() {
		if key := f.Tag.Get("file"); key != "" && f.Tag.Get("help") != "" {
			continue
		}
		flag, env := f.Tag.Get("flag"), f.Tag.Get("env")
		if flag == "" && f.Tag.Get("file") == "-" { // nobody sets it
			continue
		}
		name := strings.ReplaceAll(flag, "-", "_")
		if flag == "" { // a secret
			name = strings.TrimPrefix(strings.ReplaceAll(f.Name, "Token", "_Token"), "_")
		} else if strings.HasSuffix(f.Name, "Token") {
			t.Errorf("%s: a secret must not stand on the command line", f.Name)
		}
		if want := "TOOLCRIB_" + strings.ToUpper(name); env != want {
			t.Errorf("%s: flag %q, env %q; want %q", f.Name, flag, env, want)
		}
		if f.Tag.Get("help") == "" {
			t.Errorf("%s: no help", f.Name)
		}
		if (f.Tag.Get("arg") == "") != (f.Type.Kind() == reflect.Bool) {
			t.Errorf("%s: arg %q with kind %s", f.Name, f.Tag.Get("arg"), f.Type.Kind())
		}
	}
}

func TestConfigSelection(t *testing.T) {
	all := catalog.All(catalog.Deps{})
	preset := func(name string) []string {
		names, err := catalog.Preset(name, all)
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	for _, tt := range []struct {
		name string
		cfg  server.Config
		want tools.Selection
	}{
		{"zero", server.Config{}, tools.Selection{Preset: preset("default"), Tailored: catalog.Tailored(all)}},
		{"a preset is for everybody", server.Config{Preset: "default"}, tools.Selection{Preset: preset("default")}},
		{"nothing leads to what is not listed", server.Config{ExcludeTools: []string{"call_tool"}}, tools.Selection{Exclude: []string{"call_tool"}}},
		{"tools show all", server.Config{Tools: []string{"grep"}}, tools.Selection{Tools: []string{"grep"}}},
		{"toolsets show all", server.Config{Toolsets: []string{"files"}}, tools.Selection{Toolsets: []string{"files"}}},
		{"preset beside tools", server.Config{Tools: []string{"grep"}, Preset: "minimal"}, tools.Selection{Tools: []string{"grep"}, Preset: preset("minimal")}},
		{"exclude and read-only", server.Config{ExcludeTools: []string{"grep"}, ReadOnly: true, Preset: "all"}, tools.Selection{Exclude: []string{"grep"}, ReadOnly: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.cfg.Selection(all, tools.Host{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := (server.Config{Preset: "defalt"}).Selection(all, tools.Host{}); err == nil || !strings.Contains(err.Error(), `did you mean "default"`) {
		t.Errorf("unknown preset: %v", err)
	}
}

func TestConfigLevel(t *testing.T) {
	for text, want := range map[string]slog.Level{"": slog.LevelWarn, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError} {
		if got, err := (server.Config{LogLevel: text}).Level(); err != nil || got != want {
			t.Errorf("level %q: %v, %v", text, got, err)
		}
	}
	if _, err := (server.Config{LogLevel: "loud"}).Level(); err == nil {
		t.Error("level loud is taken")
	}
}

func TestConfigWorkspace(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("HOME", dir)
	t.Setenv("LOCALAPPDATA", dir)
	got, err := server.Config{}.Workspace()
	if err != nil || len(got.StateDefaults) == 0 || !strings.HasPrefix(got.StateDefaults[0], dir) || got.StateBase != "" || got.NoSync || got.AllowProtected {
		t.Errorf("default: %+v, %v", got, err)
	}
	t.Chdir(dir)
	got, err = server.Config{StateDir: "state", Durable: "false", AllowProtected: true}.Workspace()
	if err != nil || !filepath.IsAbs(got.StateBase) || filepath.Base(got.StateBase) != "state" || got.StateDefaults != nil || !got.NoSync || !got.AllowProtected {
		t.Errorf("all set: %+v, %v", got, err)
	}
	if got, err = (server.Config{Durable: "true"}).Workspace(); err != nil || got.NoSync {
		t.Errorf("durable: %+v, %v", got, err)
	}
}

func TestInstructions(t *testing.T) {
	all := catalog.All(catalog.Deps{})
	text := server.Instructions([]string{"/srv/a", "/srv/b"}, all)
	if !strings.HasPrefix(text, "The tools work inside these directories: /srv/a, /srv/b.\nRelative paths are under the first;") {
		t.Errorf("instructions:\n%s", text)
	}
	if strings.Count(text, "grep") < 2 {
		t.Errorf("a guide is not told with the whole catalog:\n%s", text)
	}
	only := slices.DeleteFunc(slices.Clone(all), func(t tools.Tool) bool { return t.Category != "files" })
	if text := server.Instructions([]string{"/srv/a"}, only); strings.Contains(text, "grep") {
		t.Errorf("grep without grep:\n%s", text)
	}
}

// However many roots there are and however long, the text stays within what
// clients take, and says how many it leaves out.
func TestInstructionsFit(t *testing.T) {
	all := catalog.All(catalog.Deps{})
	var roots []string
	for i := range 60 {
		roots = append(roots, "/"+strings.Repeat("d", 20+i))
		text := server.Instructions(roots, all)
		if len(text) > 2000 {
			t.Fatalf("%d roots: %d bytes", len(roots), len(text))
		}
		line, _, _ := strings.Cut(text, "\n")
		shown := strings.Count(line, "/d")
		if rest := fmt.Sprintf("and %d more.", len(roots)-shown); (shown < len(roots)) != strings.HasSuffix(line, rest) {
			t.Fatalf("%d of %d roots: %s", shown, len(roots), line)
		}
	}
	if text := server.Instructions([]string{strings.Repeat("/long", 1000)}, all); len(text) > 2000 || !strings.Contains(text, "and 1 more.") {
		t.Errorf("one long root: %d bytes", len(text))
	}
}

func TestJobOptions(t *testing.T) {
	got, err := (server.Config{Jobs: server.Jobs{Foreground: 20 * time.Second, Output: 2, Sessions: 3}}).JobOptions()
	if want := (catalog.JobOptions{Foreground: 20 * time.Second, Output: 2 << 20, Shells: 3}); err != nil || got != want {
		t.Errorf("%+v, error %v; want %+v", got, err, want)
	}
	for name, j := range map[string]server.Jobs{
		"foreground": {Foreground: 2 * time.Minute}, "timeout": {Timeout: time.Millisecond}, "keep": {Keep: -time.Hour}, "idle": {Idle: 1000 * time.Hour},
	} {
		if _, err := (server.Config{Jobs: j}).JobOptions(); err == nil || !strings.HasPrefix(err.Error(), "jobs."+name+": ") {
			t.Errorf("%+v: error %v", j, err)
		}
	}
}

func TestIndexBytes(t *testing.T) {
	for text, want := range map[string]int64{"": 160 << 20, "0": 0, "64": 64 << 20} {
		if got, err := (server.Config{IndexMemory: text}).IndexBytes(); err != nil || got != want {
			t.Errorf("%q: %d, error %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"-1", "160MB", "99999999"} {
		if got, err := (server.Config{IndexMemory: text}).IndexBytes(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %d, error %v", text, got, err)
		}
	}
}
