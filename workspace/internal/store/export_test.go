package store

// Stripe is the lock of a name.
func Stripe(name string) int { return stripe(name) }
