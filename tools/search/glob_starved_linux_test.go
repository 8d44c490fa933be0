package search_test

import "testing"

func TestGlobTooManyOpenFiles(t *testing.T) {
	starved(t, "glob", `{"pattern":["*.txt"],"fresh":true}`)
}
