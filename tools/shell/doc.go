// Package shell is the category of tools that run commands: one command line, jobs that
// outlast a call, processes of the machine. Commands are contained by the sandbox and
// not by workspace.
//
// Start reading at [Tools]. A tool has NAME.go and, where it needs more, NAME_*.go. What
// the shells share is in run.go, with check.go, plan.go, attend.go and command.go; what
// the tools of jobs share in find_job.go and output.go, with excerpt.go and hints.go;
// shown_processes.go is for the tools of processes. What a job is, and where its output
// goes, stands in tools/internal/programs/jobs. The package must not import other
// categories.
package shell
