package sandboxinit

const (
	auditArch  = 0xc00000b7
	foreignABI = 0 // there is none beside the 32-bit one, which has its own architecture
	openHere   = 0 // it has openat alone
)

var refusedHere = [...]uint32{}

var modesHere = [...][2]uint32{}

var reportedHere = [...]uint32{}
