package cli

import (
	"slices"

	"toolcrib/server/conformance"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
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

// resources are what goes with the tools that were chosen, and the fixtures.
func (p *Process) resources(selected tools.Selected, f conformance.Fixtures) []tools.Source {
	return slices.Concat(catalog.Sources(p.Deps, selected.Enabled), f.Sources)
}
