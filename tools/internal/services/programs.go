package services

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
)

// Programs returns a category without tools. It has the settings of all programs that tools
// start, and its Close ends these programs.
func (s *Services) Programs() tools.Category {
	return tools.Category{
		ID: "programs", Title: "Programs",
		Settings: tools.NewSettings(ProgramSettings{}, func(set ProgramSettings, setup tools.Setup) {
			s.Sandbox().Configure(set.options(setup))
		}),
		Close:  func() error { return s.Sandbox().Close() },
		Doctor: s.examine,
	}
}

// ProgramSettings configure how the programs of tools are contained.
type ProgramSettings struct {
	Sandbox        string   `flag:"sandbox" env:"TOOLCRIB_SANDBOX" arg:"LEVEL" values:"full,landlock,none" help:"how programs that tools run are contained: full, landlock is without namespaces, none contains nothing; where the machine does not let the level be made, they are refused (default the best of this system, which is full on Linux)" default:"full" narrow:"order=none,landlock,full" topic:"sandbox"`
	NetworkHosts   []string `flag:"network-hosts" env:"TOOLCRIB_NETWORK_HOSTS" arg:"HOSTS" help:"the only hosts that programs with the network reach: example.com, *.example.com for all below it, example.com:443, addresses and prefixes; * is every public host (default that)" live:"yes"`
	NetworkPrivate []string `flag:"network-private" env:"TOOLCRIB_NETWORK_PRIVATE" arg:"HOSTS" help:"hosts that programs with the network reach although their addresses are private, in the same forms; a mirror, a database of the site (default none)" live:"yes"`
	ProgramUndo    string   `flag:"program-undo" env:"TOOLCRIB_PROGRAM_UNDO" arg:"WHEN" values:"on,off" help:"whether the history of files gets what programs change, so that it can be undone" default:"on" live:"yes"`
	Programs       Bounds   `file:"programs" help:"what programs that tools run may use: memory, files, processes, directories, variables" live:"yes"`
}

// Bounds limits the programs of tools. Zero fields have defaults.
type Bounds struct {
	Memory    int      `json:"memory,omitempty" jsonschema:"minimum=16" jsonschema_description:"MB of data that a process may have (default 16384, of Python 4096)"`
	FileSize  int      `json:"file_size,omitempty" jsonschema:"minimum=1" jsonschema_description:"MB of a file that a process may write (default 65536)"`
	Files     int      `json:"files,omitempty" jsonschema:"minimum=16" jsonschema_description:"files that a process may have open (default 16384)"`
	Processes int      `json:"processes,omitempty" jsonschema:"minimum=8" jsonschema_description:"processes and threads that a program may have at a time (default 2048)"`
	Read      []string `json:"read,omitempty" jsonschema_description:"directories and files that programs may read in addition to the system's and the toolchains of the home directory"`
	Hide      []string `json:"hide,omitempty" jsonschema_description:"directories and files that programs must not see"`
	Env       []string `json:"env,omitempty" jsonschema_description:"names of variables of the environment that programs get in addition to the usual ones"`
}

// options returns the options of the sandbox. Check must have accepted the level.
func (set *ProgramSettings) options(setup tools.Setup) sandbox.Options {
	b := set.Programs
	opt := sandbox.Options{
		Limits: sandbox.Limits{
			Memory: int64(b.Memory) << 20, FileSize: int64(b.FileSize) << 20,
			Files: b.Files, Processes: b.Processes,
		},
		Read: slices.Concat(b.Read, setup.Read), Hide: slices.Concat(b.Hide, setup.Hide), Env: b.Env,
		Hosts: set.NetworkHosts, Private: set.NetworkPrivate,
		Unrecorded: set.ProgramUndo == "off",
		Log:        setup.Log,
	}
	if set.Sandbox != "" {
		_ = opt.Level.UnmarshalText([]byte(set.Sandbox)) // Check has tried
	}
	return opt
}

// Variables returns the environment variables that programs get; all = every one.
func (set *ProgramSettings) Variables() (names []string, all bool) {
	opt := set.options(tools.Setup{})
	return opt.Variables()
}

// Check returns the errors of the settings on this machine.
func (set *ProgramSettings) Check(tools.Host) (wrong []tools.SettingError) {
	const described = "toolcrib config schema describes the file"
	if err := set.Programs.check(); err != nil {
		wrong = append(wrong, tools.SettingError{Key: "programs", Err: err, Hint: described})
	}
	if err := (sandbox.Options{Hosts: set.NetworkHosts}).Check(); err != nil {
		wrong = append(wrong, tools.SettingError{Key: "network_hosts", Err: err})
	}
	if err := (sandbox.Options{Private: set.NetworkPrivate}).Check(); err != nil {
		wrong = append(wrong, tools.SettingError{Key: "network_private", Err: err})
	}
	var level sandbox.Level
	if set.Sandbox != "" {
		if err := level.UnmarshalText([]byte(set.Sandbox)); err != nil {
			wrong = append(wrong, tools.SettingError{Key: "sandbox", Err: err})
		}
	}
	return wrong
}

// check checks the files and variables on this machine. Its error names the first one that
// would have no effect.
func (b Bounds) check() error {
	for _, list := range []struct {
		key   string
		files []string
	}{{"read", b.Read}, {"hide", b.Hide}} {
		for i, file := range list.files {
			switch _, err := os.Stat(file); {
			case !filepath.IsAbs(file):
				return fmt.Errorf("programs.%s[%d]: %q is not an absolute path", list.key, i+1, file)
			case filepath.Dir(filepath.Clean(file)) == filepath.Clean(file):
				return fmt.Errorf("programs.%s[%d]: %q is everything; name a path below it", list.key, i+1, file)
			case errors.Is(err, fs.ErrNotExist):
				return fmt.Errorf("programs.%s[%d]: %q does not exist", list.key, i+1, file)
			}
		}
	}
	for i, name := range b.Env {
		if name == "" || strings.ContainsAny(name, "= \t\n\x00") {
			return fmt.Errorf("programs.env[%d]: %q is not the name of a variable", i+1, name)
		}
	}
	return nil
}

// examine makes the sandbox of the workspace and reports whether that works.
func (s *Services) examine(ctx context.Context) []tools.Finding {
	programs := s.Sandbox()
	level, err := programs.Check(ctx)
	if err != nil {
		e := tools.AsError(err)
		return []tools.Finding{{State: tools.Broken, What: "sandbox", Say: e.Msg + "; " + e.Hint}}
	}
	if level == sandbox.None {
		return []tools.Finding{{State: tools.Missing, What: "sandbox", Say: "none: programs that tools run can do all that the user can"}}
	}
	found := []tools.Finding{{State: tools.Fine, What: "sandbox", Say: "programs that tools run are contained at level " + level.String()}}
	if why := programs.Unrecorded(ctx); why != "" {
		found = append(found, tools.Finding{State: tools.Missing, What: "undo", Say: "what programs change cannot be undone: " + why})
	} else {
		found = append(found, tools.Finding{State: tools.Fine, What: "undo", Say: "what programs change is in the history of files"})
	}
	if why := programs.Countless(); why != "" {
		found = append(found, tools.Finding{State: tools.Missing, What: "limits", Say: "programs.processes does not hold, so that a program may have any number of processes: " + why})
	}
	return found
}

// InterpreterFiles returns the directories and files that the interpreter at a path needs to
// run: its own, which may be a virtual environment, and those of the interpreter that the
// environment was made from. Their parent directory is not among them, since it may be the
// user's home. For a relative path it returns nil.
func InterpreterFiles(path string) []string {
	if !filepath.IsAbs(path) {
		return nil
	}
	var files []string
	add := func(names ...string) {
		for _, name := range names {
			if _, err := os.Stat(name); err == nil && !slices.Contains(files, name) && !strings.HasPrefix(name, "/usr/") {
				files = append(files, name)
			}
		}
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		target = path
	}
	for _, file := range []string{path, target} {
		add(file)
		dir := filepath.Dir(filepath.Dir(file))
		for _, name := range []string{"bin", "include", "lib", "lib64", "Lib", "Scripts", "pyvenv.cfg", "share"} {
			if dir != filepath.Dir(dir) {
				add(filepath.Join(dir, name))
			}
		}
	}
	return files
}
