package state

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// DefaultBases returns the directories that may hold the states of all roots of the
// user, the best first: the user's own, and FallbackBase where there is one. The
// own is $XDG_STATE_HOME/toolcrib or ~/.local/state/toolcrib, on macOS
// ~/Library/Application Support/toolcrib, on Windows %LocalAppData%\toolcrib. The
// error says why there is none.
func DefaultBases() ([]string, error) {
	var bases []string
	own, err := ownBase()
	if err == nil {
		bases = append(bases, own)
	}
	if fallback := FallbackBase(); fallback != "" {
		bases = append(bases, fallback)
	}
	if len(bases) == 0 {
		return nil, err
	}
	return bases, nil
}

func ownBase() (string, error) {
	var dir string
	var err error
	switch runtime.GOOS {
	case "darwin", "ios":
		dir, err = os.UserConfigDir()
	case "windows":
		dir, err = os.UserCacheDir() // %LocalAppData%: state does not roam
	default:
		// A relative $XDG_STATE_HOME is to be ignored, says its specification.
		if dir = os.Getenv("XDG_STATE_HOME"); !filepath.IsAbs(dir) {
			dir, err = os.UserHomeDir()
			dir = filepath.Join(dir, ".local", "state")
		}
	}
	if err != nil {
		return "", fmt.Errorf("no place for state: %w", err)
	}
	return filepath.Join(dir, "toolcrib"), nil
}
