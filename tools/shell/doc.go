// Package shell is the category of tools that run commands: one command line, jobs that
// outlast a call, processes of the machine. Commands are contained by the sandbox and
// not by workspace.
//
// Start reading at [Tools]. What a job is, and where its output goes, stands in
// tools/internal/programs/jobs. The package must not import other categories.
package shell
