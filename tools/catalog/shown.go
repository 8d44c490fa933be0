package catalog

// The tools that help and the demonstration of the command line show to users.
const (
	ShownFind   = "glob"
	ShownList   = "list_directory"
	ShownRead   = "read_file"
	ShownSearch = "grep"
)
