package rules

import (
	"cmp"
	"slices"

	"toolcrib/tools"
	"toolcrib/workspace"
	"toolcrib/workspace/deny"
)

// ForPrograms returns the paths that the programs of a call must not open, nil for none: the
// paths that rules deny to the tool, and those that they deny to any tool that reads or
// writes, since a program does both. If a more specific rule allows the tool such a path,
// its programs may open it too. Paths that rules ask about are left to the sandbox: the
// user cannot be asked about each file that a program opens.
func (rs *Set) ForPrograms(c Applicable, principal string) *deny.Rules {
	if rs == nil {
		return nil
	}
	reads, writes := c.joined(rs.reading), c.joined(rs.writing)
	denied := &deny.Rules{Judge: func(at workspace.Path) workspace.Denial {
		if r := reads.Judge(principal, at); r != nil && r.Effect == Deny {
			return workspace.Denial{Rule: r.Name}
		}
		if r := writes.Judge(principal, at); r != nil && r.Effect == Deny {
			return workspace.Denial{Rule: r.Name, Readable: true}
		}
		return workspace.Denial{}
	}}
	var general Applicable // wherever a call leads
	for _, all := range []Applicable{reads, writes} {
		for _, r := range all.Rules {
			_, ok := most(r.principals, principal)
			switch {
			case !ok || len(r.Commands) > 0:
			case len(r.Paths) == 0:
				general.Rules = append(general.Rules, r)
			case r.Effect == Deny:
				denied.Denied = append(denied.Denied, r.Paths...)
			default:
				denied.Allowed = append(denied.Allowed, r.Paths...)
			}
		}
	}
	if r := general.Judge(principal, workspace.Path{}); r != nil && r.Effect == Deny {
		denied.Anywhere = true
	}
	if len(denied.Denied) == 0 && !denied.Anywhere {
		return nil
	}
	return denied
}

// joined adds the rules with a path of another tool's.
func (c Applicable) joined(other Applicable) Applicable {
	all := Applicable{Rules: slices.Clone(c.Rules), Placed: c.Placed || other.Placed}
	for _, r := range other.Rules {
		if len(r.Paths) > 0 && !slices.ContainsFunc(c.Rules, func(own candidate) bool { return own.Compiled == r.Compiled }) {
			all.Rules = append(all.Rules, r)
		}
	}
	slices.SortStableFunc(all.Rules, func(a, b candidate) int { return cmp.Compare(b.Effect, a.Effect) })
	return all
}

// plainly returns two tools that represent all tools that read, and all that write.
func plainly() (reading, writing tools.Tool) {
	return tools.Tool{Access: tools.Read, Effects: tools.None}, tools.Tool{Access: tools.Write, Effects: tools.Workspace}
}
