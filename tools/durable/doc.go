// Package durable runs work that must survive the process: each run has an ID that no other
// run gets, and its steps are recorded, so that another process goes on where one died.
//
// It stands on DBOS Transact, which it alone imports, behind an interface of its own. Runs are
// kept in a SQLite database of the state directory, or in PostgreSQL. The engine is launched
// when it is first needed and stops when nothing has run for a while: a process that uses no
// runs pays nothing, and one that waits pays as good as nothing.
//
// A process of an engine is an executor. An executor that dies leaves runs behind, which the
// others adopt in about a second. On one machine a locked file says that an executor lives; in
// PostgreSQL it is a lock of a connection of its own, and for one that is stopped a row that it
// renews, judged by the clock of the database. An executor whose runs were adopted can record
// nothing of them any more, so it begins no effect.
//
// Work that may be done twice is a [Step]. What must not be done twice is an [Effect]: it is
// recorded before it begins, and if its process dies in the middle, the next one learns that
// its outcome is [Unknown], unless the effect may be repeated.
//
// Inputs, results and steps are stored as JSON, so there must be no secret in them. Start
// reading at [Engine], then [Run]. The package imports workspace/state and must not import a
// category.
package durable
