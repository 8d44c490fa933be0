package files

// Names for the external tests.
var (
	URIOf        = uriOf
	PathOf       = pathOf
	Variable     = variable
	VariablePath = variablePath
)
