// Package sandboxinit is what runs between the server and a program in the sandbox: the
// binary of the server, executed once more.
//
// The server starts a holder for what one principal may see in one workspace. The
// holder makes the namespaces and mounts (tree_linux.go) and keeps them: the private
// network, the private temporary directory, HOME. For each program it forks an init
// (init_linux.go), pid 1 of its own PID namespace where there is one, which restricts
// and starts the program (program_linux.go), forwards signals, reaps, and ends everything
// when the program has ended or the server is gone (watch_linux.go).
//
// The fork is one without exec, so that no process start is on the path of a call. What
// runs in the init is therefore raw system calls and nothing of Go's runtime, since
// that has only one of its threads there: no allocation, no growing stack, no lock.
//
// Its init function turns the process into a holder where [Variable] says so, before
// main. The package imports the standard library and x/sys alone. Start reading at
// wire.go, then hold in holder_linux.go.
package sandboxinit
