package search

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/search/internal/scan"
)

// keptFor is how long the answer to a search may be reused if no file has changed.
const keptFor = 10 * time.Minute

// Category returns the tools that find files and lines.
func Category(s *services.Services) tools.Category {
	d := Deps{Library: NewLibrary(s.Lists())}
	set := tools.NewSettings(Settings{}, nil)
	return tools.Category{
		ID: "search", Title: "find files by name and lines by text",
		Guide:    "glob finds files by name; grep finds lines by their text; what .gitignore names is left out, unless told otherwise; line numbers of grep are offsets of read_file",
		Settings: set,
		Tools:    Tools(d),
		Start: func(ctx context.Context, busy func() bool) (stop func()) {
			memory, _ := set.Now().bytes() // Check has reported the error
			return d.Library.Start(ctx, memory, busy)
		},
	}
}

// Settings are those of the category.
type Settings struct {
	IndexMemory string `flag:"index-memory" env:"TOOLCRIB_INDEX_MEMORY" arg:"MB" help:"memory for the indexes of searched workspaces and what is kept of their files, in MB; 0 keeps nothing, and every search reads the files (default 160)" default:"160" topic:"search"`
}

// bytes returns how many bytes the indexes may take. The error names a value that is not a
// number of megabytes.
func (set *Settings) bytes() (int64, error) {
	if set.IndexMemory == "" {
		return 160 << 20, nil
	}
	mb, err := strconv.ParseUint(set.IndexMemory, 10, 20)
	if err != nil {
		return 0, fmt.Errorf("%q is no number of megabytes for the index; give one such as 160, or 0 for none", set.IndexMemory)
	}
	return int64(mb) << 20, nil
}

// Check returns the errors of the settings.
func (set *Settings) Check(tools.Host) []tools.SettingError {
	if _, err := set.bytes(); err != nil {
		return []tools.SettingError{{Key: "index_memory", Err: err}}
	}
	return nil
}

// Deps is the state that the tools of the category share in a process.
type Deps struct {
	Library *Library // nil = every search reads the files
	pages   *pages   // of all searches
	buffers *scan.Buffers
}

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	d.pages, d.buffers = newPages(), new(scan.Buffers)
	return []tools.Tool{
		globTool(d),
		grepTool(d),
	}
}
