package edits

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// Encodings writes texts of this project in many languages and encodings and has
// read_file tell the encoding: right is where the text comes out, whatever it is called.
// The second half of the texts was written after the detector.
func Encodings(ctx context.Context, env harness.Environment) error {
	server, dir, remove, err := env.UseScratch(ctx, "encodings")
	defer remove()
	if err != nil {
		return err
	}
	var all encodingRow
	var wrong []string
	rows, seen := map[string]*encodingRow{}, map[string]bool{}
	for _, half := range []string{"first", "second"} {
		samples, err := encodingSamples(ctx, half)
		if err != nil {
			return err
		}
		for _, s := range samples {
			kind := "legacy"
			if strings.HasPrefix(s.encoding, "utf-") {
				kind = "Unicode"
			}
			verdict, answer, err := s.read(server, dir)
			if err != nil {
				return err
			}
			seen[s.encoding] = true
			for _, name := range []string{half + " half, " + kind, s.encoding} {
				if rows[name] == nil {
					rows[name] = &encodingRow{}
				}
				rows[name].count(verdict)
			}
			all.count(verdict)
			if verdict == misdetected || verdict == misguessed {
				status, _, _ := strings.Cut(answer, "\n")
				wrong = append(wrong, fmt.Sprintf("%s, %s of the %s half: %s", s.encoding, s.language, half, harness.Brief(status)))
			}
		}
	}
	fmt.Println("| encodings | samples | right | of these guessed | wrong as a guess | wrong as detected |\n|---|---|---|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		rows[name].print(name)
	}
	all.print("all")
	for _, w := range wrong {
		fmt.Println("  " + w)
	}
	var failed error
	second := rows["second half, legacy"]
	switch {
	case all.samples < 400 || len(seen) < 40:
		failed = fmt.Errorf("%d samples in %d encodings, want 400 in 40", all.samples, len(seen))
	case all.verdicts[misdetected] > 0:
		failed = fmt.Errorf("%d wrong ones are called detected", all.verdicts[misdetected])
	case all.share() < 0.92 || second.share() < 0.92:
		failed = fmt.Errorf("%.1f %% right, of the legacy ones of the second half %.1f %%, want 92 %%", 100*all.share(), 100*second.share())
	}
	return errors.Join(failed, server.Close())
}

// encodingVerdict is how a sample was told.
type encodingVerdict int

const (
	told encodingVerdict = iota
	guessed
	misguessed
	misdetected
)

type encodingRow struct {
	samples  int
	verdicts [4]int
}

func (r *encodingRow) count(v encodingVerdict) {
	r.samples++
	r.verdicts[v]++
}

func (r *encodingRow) share() float64 {
	return float64(r.verdicts[told]+r.verdicts[guessed]) / float64(r.samples)
}

func (r *encodingRow) print(name string) {
	v := r.verdicts
	fmt.Printf("| %s | %d | %d (%.1f %%) | %d | %d | %d |\n", name, r.samples, v[told]+v[guessed], 100*r.share(), v[guessed], v[misguessed], v[misdetected])
}

// read has the server read a sample.
func (s encodingSample) read(server *harness.ToolUser, dir string) (encodingVerdict, string, error) {
	path := filepath.Join(dir, "sample.txt")
	if err := os.WriteFile(path, s.data, 0o644); err != nil {
		return 0, "", err
	}
	answer, err := server.Use("read_file", map[string]any{"path": path, "line_numbers": false})
	if err != nil {
		return 0, "", fmt.Errorf("%s, %s: %w", s.encoding, s.language, err)
	}
	status, text, _ := strings.Cut(answer.Text, "\n")
	if s.text == "" { // to be refused by its name
		if answer.Failed && strings.Contains(status, "is text in "+s.encoding+",") && strings.Contains(status, "iconv -f ") {
			return told, answer.Text, nil
		}
		return misdetected, answer.Text, nil
	}
	right, guess := !answer.Failed && text == strings.TrimSuffix(s.text, "\n"), strings.Contains(status, "(guessed")
	switch {
	case right && guess:
		return guessed, answer.Text, nil
	case right:
		return told, answer.Text, nil
	case guess || strings.Contains(status, ": binary"):
		return misguessed, answer.Text, nil
	}
	return misdetected, answer.Text, nil
}
