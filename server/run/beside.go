package run

import (
	"cmp"
	"slices"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// beside says what the programs of a call are to be kept from, nil for nothing: what
// rules deny to the tool at some place, and what they deny there to any tool that reads or
// writes, since a program does both. A rule that allows the tool such a place by being more
// specific opens it to its programs. What rules ask about is left to the sandbox: nobody
// can be asked about each file that a program opens.
func (rs *Rules) beside(c concerning, principal string) *workspace.Closure {
	if rs == nil {
		return nil
	}
	reads, writes := c.joined(rs.reading), c.joined(rs.writing)
	closure := &workspace.Closure{Judge: func(at workspace.Path) workspace.Shut {
		if r := reads.judge(principal, at); r != nil && r.verdict == denies {
			return workspace.Shut{Rule: r.name}
		}
		if r := writes.judge(principal, at); r != nil && r.verdict == denies {
			return workspace.Shut{Rule: r.name, Readable: true}
		}
		return workspace.Shut{}
	}}
	var general concerning // wherever a call leads
	for _, all := range []concerning{reads, writes} {
		for _, r := range all.rules {
			_, ok := most(r.principals, principal)
			switch {
			case !ok || len(r.commands) > 0:
			case len(r.paths) == 0:
				general.rules = append(general.rules, r)
			case r.verdict == denies:
				closure.Shuts = append(closure.Shuts, r.paths...)
			default:
				closure.Opens = append(closure.Opens, r.paths...)
			}
		}
	}
	if r := general.judge(principal, workspace.Path{}); r != nil && r.verdict == denies {
		closure.Anywhere = true
	}
	if len(closure.Shuts) == 0 && !closure.Anywhere {
		return nil
	}
	return closure
}

// joined adds the rules with a path of another tool's.
func (c concerning) joined(other concerning) concerning {
	all := concerning{rules: slices.Clone(c.rules), placed: c.placed || other.placed}
	for _, r := range other.rules {
		if len(r.paths) > 0 && !slices.ContainsFunc(c.rules, func(own candidate) bool { return own.ruling == r.ruling }) {
			all.rules = append(all.rules, r)
		}
	}
	slices.SortStableFunc(all.rules, func(a, b candidate) int { return cmp.Compare(b.verdict, a.verdict) })
	return all
}

// plainly are the tools that stand for all that read, and for all that write.
func plainly() (reading, writing tools.Tool) {
	return tools.Tool{Access: tools.Read, Effects: tools.None}, tools.Tool{Access: tools.Write, Effects: tools.Workspace}
}
