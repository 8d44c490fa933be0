// Package schedule has the tools that run other tools at their times.
//
// A schedule is a row of the state database. Every server of its root looks which slots are
// due, and starts a durable run for each, whose ID is the schedule with the slot: so one of
// them carries it out. The run calls the tool in the name of whoever made the schedule,
// through the same policy and audit as any other call; nobody can be asked then, so the user
// is asked when the schedule is made.
//
// Start reading at [Category], then the keeper, which looks at the clock. internal/slots
// computes the times. The package imports durable and the database, and must not import
// another category.
package schedule
