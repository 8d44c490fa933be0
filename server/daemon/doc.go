// Package daemon runs a server in the background that outlasts its clients. A client
// starts a relay, which copies bytes between its pipes and a socket; the daemon of the
// same key serves each connection as a server serves its pipes.
//
// The key is a digest of everything that a server depends on: clients with the same
// settings join the same daemon, and no client is served by a daemon with other settings.
// Socket, lock and log of a key are in a directory that only the user can enter. Relays
// connect under the lock, and a daemon ends under it, so that no client connects to a daemon
// that is ending.
//
// Start reading at [Dir.Join], which a relay calls, and [Daemon.Serve]. The package
// knows neither tools nor settings and imports nothing of ours.
package daemon

import "time"

// Status describes a daemon, as reported by itself.
type Status struct {
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Roots   []string  `json:"roots"`
	Clients int       `json:"clients"`
	Load    Load      `json:"load"`
	Log     string    `json:"log"`
	Refused string    `json:"refused,omitempty"` // why it does not serve the client that asks
	Silent  bool      `json:"-"`                 // it did not answer in time: only its PID is known
}

// Load is why a daemon lives without a client.
type Load struct {
	Running  int `json:"running"`  // jobs
	Kept     int `json:"kept"`     // jobs that have ended, whose output can still be read
	Sessions int `json:"sessions"` // shells and interpreters that keep something
}

// None reports whether nothing would be lost.
func (l Load) None() bool { return l == Load{} }

// The purposes of a connection, in its first line.
const (
	askServe  = "serve"
	askStatus = "status"
)

// Times.
const (
	lockWait   = 30 * time.Second // for a relay that starts a daemon
	startWait  = 30 * time.Second // for a daemon to open
	helloWait  = 5 * time.Second  // for the first line of either side
	statusWait = 500 * time.Millisecond
	// lingers is how often a daemon without a client looks whether it is needed.
	lingers = time.Second
)
