// Command licences collects the licences of the Go modules that toolcrib links on any platform,
// of Go itself, and of what toolcrib embeds, into server/licences.
//
// Usage, in the root of the repository: go run ./.ci/licences
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"toolcrib/server/licences"
)

func main() {
	if err := collect("server/licences/texts.gz"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func collect(to string) error {
	goroot, err := output("", "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(goroot), "LICENSE"))
	if err != nil {
		return err
	}
	ofPDFium, err := os.ReadFile("tools/internal/document/pdf/pdfium/LICENSE")
	if err != nil {
		return err
	}
	all := []licences.Licence{
		{Part: "Go", Version: strings.TrimPrefix(runtime.Version(), "go"), Text: string(text)},
		{Part: "PDFium", Text: string(ofPDFium)},
	}
	seen := map[string]bool{}
	for _, platform := range []string{"linux", "darwin", "windows"} {
		list, err := output(platform, "go", "list", "-deps", "-f", "{{with .Module}}{{if and .Version (not .Replace)}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", ".")
		if err != nil {
			return err
		}
		for line := range strings.Lines(list) {
			if line = strings.TrimSpace(line); line == "" || seen[line] {
				continue
			}
			seen[line] = true
			words := strings.SplitN(line, " ", 3)
			l := licences.Licence{Part: words[0], Version: words[1]}
			if l.Text, err = texts(words[2]); err != nil {
				return err
			}
			all = append(all, l)
		}
	}
	for i := range all {
		if all[i].Name = name(all[i].Text); all[i].Name == "" {
			return fmt.Errorf("%s: the licence has no name that is known here", all[i].Part)
		}
	}
	slices.SortFunc(all, func(a, b licences.Licence) int { return strings.Compare(a.Part, b.Part) })
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(w).Encode(all); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, packed.Bytes(), 0o644) //nolint:gosec // it is part of the source
}

func output(platform, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if platform != "" {
		cmd.Env = append(cmd.Env, "GOOS="+platform)
	}
	out, err := cmd.Output()
	return string(out), err
}

// texts returns the files of a module that a copy must bring.
func texts(dir string) (string, error) {
	wanted := regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)`)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() || !wanted.MatchString(e.Name()) || strings.Contains(e.Name(), "LOGO") || strings.Contains(e.Name(), "TEST262") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		all = append(all, strings.TrimSpace(string(text)))
	}
	if all == nil {
		return "", fmt.Errorf("%s has no licence", dir)
	}
	return strings.Join(all, "\n\n"), nil
}

// name returns the names of the licences of a text, as SPDX has them.
func name(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	var names []string
	for _, known := range [][2]string{
		{"Apache-2.0", "Apache License"},
		{"MPL-2.0", "Mozilla Public License"},
		{"BSD-3-Clause", "Neither the name"},
		{"MIT", "Permission is hereby granted, free of charge"},
		{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose"},
		{"Zlib", "This software is provided 'as-is'"},
	} {
		if strings.Contains(text, known[1]) {
			names = append(names, known[0])
		}
	}
	if !slices.Contains(names, "BSD-3-Clause") && strings.Contains(text, "Redistributions in binary form must reproduce") {
		names = append(names, "BSD-2-Clause")
	}
	return strings.Join(names, " and ")
}
