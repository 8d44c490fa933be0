package jobs

// Echo is what becomes of what is typed into a job.
type Echo uint8

// What can.
const (
	Unseen Echo = iota // it does not show, or nobody can tell
	Seen               // the terminal shows it
	Edited             // the program does, as it edits the line: it takes every key by itself, as readline does
)
