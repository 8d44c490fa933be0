package workspace_test

import (
	"encoding/json"
	"testing"

	"toolcrib/workspace/state"
)

// leaveJournal writes the journal of a process that was killed.
func leaveJournal(t *testing.T, base string, lines []map[string]any, torn string) {
	t.Helper()
	shared, err := state.Shared(base)
	check(t, err)
	defer shared.Close()
	journal, err := shared.Own("journal")
	check(t, err)
	for _, line := range lines {
		data, err := json.Marshal(line)
		check(t, err)
		check(t, journal.Append(append(data, '\n')))
	}
	check(t, journal.Append([]byte(torn)))
	check(t, journal.Abandon())
}
