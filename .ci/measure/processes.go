package main

import (
	"bytes"
	"os"
	"path/filepath"
)

// processesNamed finds processes by their name.
func processesNamed(name string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil && bytes.HasPrefix(data, []byte(name+"\x00")) {
			found = append(found, filepath.Base(filepath.Dir(file)))
		}
	}
	return found
}
