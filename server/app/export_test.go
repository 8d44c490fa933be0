package app

// TuneGC is that of a process which always rests.
func TuneGC() { tuneGC(0) }
