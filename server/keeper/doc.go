// Package keeper keeps a server in the background that outlasts its clients. A client
// starts a relay, which copies bytes between its pipes and a socket; the keeper of the
// same key serves each connection as a server serves its pipes.
//
// The key is a digest of all that a server depends on: who has the same settings joins
// the same keeper, and nobody is served by one with others. Socket, lock and log of a key
// lie in a directory that only the user can enter. Relays connect under the lock, and a
// keeper ends under it, so that no client finds nobody.
//
// Start reading at [Place.Join], which a relay calls, and [Keeper.Serve]. The package
// knows neither tools nor settings and imports nothing of ours.
package keeper

import "time"

// Status is what a keeper says of itself.
type Status struct {
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Roots   []string  `json:"roots"`
	Clients int       `json:"clients"`
	Load    Load      `json:"load"`
	Log     string    `json:"log"`
	Refused string    `json:"refused,omitempty"` // why it does not serve the one who asks
}

// Load is why a keeper lives without a client.
type Load struct {
	Running  int `json:"running"`  // jobs
	Kept     int `json:"kept"`     // jobs that have ended, whose output can still be read
	Sessions int `json:"sessions"` // shells and interpreters that keep something
}

// None reports that nothing would be lost.
func (l Load) None() bool { return l == Load{} }

// What a connection is for, in its first line.
const (
	askServe  = "serve"
	askStatus = "status"
)

// Times.
const (
	lockWait   = 30 * time.Second // for a relay that starts a keeper
	startWait  = 30 * time.Second // for a keeper to open
	helloWait  = 5 * time.Second  // for the first line of either side
	statusWait = 500 * time.Millisecond
	// lingers is how often a keeper without a client looks whether it is needed.
	lingers = time.Second
)
