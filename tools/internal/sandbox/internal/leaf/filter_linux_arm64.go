package leaf

const (
	auditArch  = 0xc00000b7
	foreignABI = 0 // there is none beside the 32-bit one, which has its own architecture
)

var refusedHere = [...]uint32{}
