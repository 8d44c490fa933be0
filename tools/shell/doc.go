// Package shell is the category of tools that run commands, follow the jobs that outlast a
// call, and list and end processes of the machine. The sandbox contains commands; workspace
// does not.
//
// Start at [Tools]. The files of a tool are NAME.go and NAME_*.go. bash and powershell share
// run.go, check.go, plan.go, attend.go and command.go; the tools for jobs share find_job.go,
// output.go, excerpt.go and hints.go; the tools for processes share shown_processes.go.
// Package tools/internal/programs/jobs has the jobs and their output. The package must not
// import other categories.
package shell
