package sandboxinit

const (
	auditArch  = 0xc00000b7
	foreignABI = 0 // only the 32-bit ABI, which has its own architecture
	openHere   = 0 // it has only openat
)

var refusedHere = [...]uint32{}

var modesHere = [...][2]uint32{}

var reportedHere = [...]uint32{}
