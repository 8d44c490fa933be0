package runs

// Marked returns why a run is to end.
var Marked = (*Store).marked
