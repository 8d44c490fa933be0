package cli

import (
	"slices"

	"toolcrib/server/conformance"
	"toolcrib/tools"
)

// fixtures returns what the conformance suite of the protocol wants of a server,
// nothing where that is not asked for. Its tools are put before the selected.
func (s *serve) fixtures(selected *tools.Selected) conformance.Fixtures {
	if !s.ConformanceFixtures {
		return conformance.Fixtures{}
	}
	f := conformance.New()
	selected.Enabled = slices.Concat(f.Tools, selected.Enabled)
	selected.Listed = slices.Concat(f.Tools, selected.Listed)
	return f
}
