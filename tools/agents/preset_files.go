package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/presets"
	"toolcrib/workspace"
)

// The directories with files of presets, in the order in which they count: below the user's
// configuration and home, and below each root.
var (
	ownDirectories  = []string{filepath.Join("toolcrib", "agents"), filepath.Join(".claude", "agents")}
	rootDirectories = []string{".toolcrib/agents", ".claude/agents"}
)

// mostPresets is how many files of a directory are read.
const mostPresets = 200

// presetFile is a file with a preset, or with a flaw.
type presetFile struct {
	presets.Preset
	path    string
	foreign bool  // it came with the workspace: strangers may have written it
	err     error // why it is no preset
}

// userDirectories returns the user's own directories of presets.
func userDirectories() []string {
	var dirs []string
	if config, err := os.UserConfigDir(); err == nil {
		dirs = append(dirs, filepath.Join(config, ownDirectories[0]))
	}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ownDirectories[1]))
	}
	return dirs
}

// presetFiles reads the files of presets: those of the user first, then those of the workspace.
func (d Deps) presetFiles(ctx context.Context) []presetFile {
	var all []presetFile
	for _, dir := range d.PresetDirs {
		own, err := workspace.Open([]string{dir}, workspace.Options{})
		if err != nil {
			continue // there is none
		}
		for _, f := range filesOf(ctx, own, dir) {
			f.path = filepath.Join(dir, filepath.Base(f.path))
			all = append(all, f)
		}
		_ = own.Close()
	}
	session := tools.Session(ctx)
	for _, root := range session.Workspace.Roots() {
		for _, below := range rootDirectories {
			dir := filepath.Join(root, filepath.FromSlash(below))
			if slices.Contains(d.PresetDirs, dir) {
				continue // the root is the user's home
			}
			for _, f := range filesOf(ctx, session.Workspace, dir) {
				f.foreign = true
				all = append(all, f)
			}
		}
	}
	return all
}

// filesOf reads the presets of a directory, none if there is no such directory.
func filesOf(ctx context.Context, ws *workspace.Workspace, dir string) (list []presetFile) {
	at, err := ws.Resolve(dir)
	if err != nil {
		return nil
	}
	entries, err := at.ReadDir()
	if err != nil {
		return nil
	}
	for _, e := range entries[:min(len(entries), mostPresets)] {
		if ctx.Err() != nil || filepath.Ext(e.Name) != ".md" {
			continue
		}
		file, err := at.Join(e.Name)
		if err != nil {
			continue // no name that a path can have
		}
		f := presetFile{path: file.String()}
		data, err := readPreset(file)
		if err == nil {
			f.Preset, err = presets.Parse(strings.TrimSuffix(e.Name, ".md"), data)
		}
		f.err = err
		list = append(list, f)
	}
	return list
}

func readPreset(path workspace.Path) ([]byte, error) {
	file, err := path.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, presets.MaxFile+1))
	if err == nil && len(data) > presets.MaxFile {
		err = fmt.Errorf("it has more than %d bytes", presets.MaxFile)
	}
	return data, err
}

// flaw is why a file is no preset, in a line.
func flaw(err error) string {
	if e, ok := errors.AsType[*workspace.Error](err); ok {
		return e.Msg
	}
	return tools.Visible(strings.Join(strings.Fields(err.Error()), " "))
}
