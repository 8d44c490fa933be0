// Package loop is the loop of an agent: it asks a model, carries out the calls that the model
// wants, and asks again, until the model has done its task or a limit is reached.
//
// Everything that decides what comes next is in the records of a run. A Journal keeps each
// record before the loop goes on, so that another process can take over a run whose process was
// killed: a call that had begun and may not be repeated has an unknown outcome then, which the
// model is told.
//
// The package knows neither tools nor where records are kept. Start at Loop.Run; record.go has
// the records, conversation.go makes the messages for the model of them, limits.go has the
// limits, calls.go carries out calls, replay.go goes through
// a run again.
package loop
