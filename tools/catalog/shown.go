package catalog

// The tools that help and the demonstration of the command line show to users.
const (
	ShownBash   = "bash"
	ShownFind   = "glob"
	ShownJobs   = "job_list"
	ShownList   = "list_directory"
	ShownRead   = "read_file"
	ShownSearch = "grep"
	ShownWrite  = "write_file"
)
