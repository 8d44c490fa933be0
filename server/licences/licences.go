// Package licences has the texts that a copy of this program must bring: the licences of the
// Go modules that are linked into it and of what it embeds.
//
// The program .ci/licences makes texts.gz. The package must not import anything of ours. Start
// at [All].
package licences

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
)

//go:embed texts.gz
var packed []byte

// Licence is that of one part of the program.
type Licence struct {
	Part    string // the path of a module, or a name
	Version string
	Name    string // "MIT", "BSD-3-Clause" ...
	Text    string // of all its files
}

// All returns the licences, the parts in their order.
func All() ([]Licence, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	var all []Licence
	return all, json.NewDecoder(r).Decode(&all)
}
