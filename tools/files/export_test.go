package files

// Names for the external tests.
var (
	Variable     = variable
	VariablePath = variablePath
)
