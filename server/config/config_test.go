package config_test

import (
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"toolcrib/server/config"
	"toolcrib/server/config/settings"
	"toolcrib/tools/catalog"
)

// services are settings for services of others, whose variables have the names that these
// services and their other users give them.
var services = map[string]string{
	"SearXNG": "SEARXNG_URL", "Brave": "BRAVE_API_KEY", "Tavily": "TAVILY_API_KEY", "Exa": "EXA_API_KEY",
	"Serper": "SERPER_API_KEY", "SerpAPI": "SERPAPI_API_KEY", "AMap": "AMAP_API_KEY",
}

// Every field can be set by a flag and by a variable, whose names go together; what
// only the file sets is none of them.
func TestConfigTags(t *testing.T) {
	cfg := config.New(catalog.All(new(catalog.Services)))
	for f := range settings.Walk(&cfg) {
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
		want := "TOOLCRIB_" + strings.ToUpper(name)
		if other, ok := services[f.Name]; ok {
			want = other
		}
		if env != want {
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

func TestConfigLevel(t *testing.T) {
	for text, want := range map[string]slog.Level{"": slog.LevelWarn, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError} {
		if got, err := (config.Config{LogLevel: text}).Level(); err != nil || got != want {
			t.Errorf("level %q: %v, %v", text, got, err)
		}
	}
	if _, err := (config.Config{LogLevel: "loud"}).Level(); err == nil {
		t.Error("level loud is taken")
	}
}

func TestConfigWorkspace(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("HOME", dir)
	t.Setenv("LOCALAPPDATA", dir)
	got, err := config.Config{}.Workspace()
	if err != nil || len(got.StateDefaults) == 0 || !strings.HasPrefix(got.StateDefaults[0], dir) || got.StateBase != "" || got.NoSync || got.AllowProtected {
		t.Errorf("default: %+v, %v", got, err)
	}
	t.Chdir(dir)
	got, err = config.Config{StateDir: "state", Durable: "false", AllowProtected: true}.Workspace()
	if err != nil || !filepath.IsAbs(got.StateBase) || filepath.Base(got.StateBase) != "state" || got.StateDefaults != nil || !got.NoSync || !got.AllowProtected {
		t.Errorf("all set: %+v, %v", got, err)
	}
	if got, err = (config.Config{Durable: "true"}).Workspace(); err != nil || got.NoSync {
		t.Errorf("durable: %+v, %v", got, err)
	}
}
