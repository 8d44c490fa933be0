package sandbox

import (
	"os"
	"path/filepath"
)

// missing are the places at the top of the roots that are protected and do not exist.
// Nothing keeps a program from making one: a mount needs something to be on, and what the
// server put there would lie in the user's directory for all to see.
func (h *holder) missing() []string {
	var list []string
	for _, d := range h.view.Roots {
		for _, rel := range h.view.Protect {
			if path := filepath.Join(d.Path, rel); rel != ".git" && absent(path) { // git init is nothing to warn of
				list = append(list, path)
			}
		}
	}
	return list
}

// made are those of them that exist by now.
func made(missing []string) []string {
	var list []string
	for _, path := range missing {
		if !absent(path) {
			list = append(list, path)
		}
	}
	return list
}

func absent(path string) bool {
	_, err := os.Lstat(path)
	return err != nil
}
