package search_test

import "testing"

func TestGrepTooManyOpenFiles(t *testing.T) {
	starved(t, "grep", `{"pattern":"needle","mode":"files","fresh":true}`)
}
