package server

import "toolcrib/tools/catalog"

// Programs says what the programs that tools run may use. The zero value leaves the
// defaults.
type Programs struct {
	Memory    int      `json:"memory,omitempty" jsonschema:"minimum=16" jsonschema_description:"MB of data that a process may have (default 16384, of Python 4096)"`
	FileSize  int      `json:"file_size,omitempty" jsonschema:"minimum=1" jsonschema_description:"MB of a file that a process may write (default 65536)"`
	Files     int      `json:"files,omitempty" jsonschema:"minimum=16" jsonschema_description:"files that a process may have open (default 16384)"`
	Processes int      `json:"processes,omitempty" jsonschema:"minimum=8" jsonschema_description:"processes and threads that a program may have at a time (default 2048)"`
	Read      []string `json:"read,omitempty" jsonschema_description:"directories and files that programs may read beside the system's and the toolchains of the home directory"`
	Hide      []string `json:"hide,omitempty" jsonschema_description:"directories and files that programs must not see"`
	Env       []string `json:"env,omitempty" jsonschema_description:"names of variables of the environment that programs get beside the usual ones"`
}

// Containment returns how programs are contained. Its error names a level that does not
// exist, or what is no host.
func (c Config) Containment() (catalog.Containment, error) {
	opt := catalog.Containment{
		Limits: catalog.ProgramLimits{
			Memory: int64(c.Programs.Memory) << 20, FileSize: int64(c.Programs.FileSize) << 20,
			Files: c.Programs.Files, Processes: c.Programs.Processes,
		},
		Read: c.Programs.Read, Hide: c.Programs.Hide, Env: c.Programs.Env,
		Hosts: c.NetworkHosts, Private: c.NetworkPrivate,
	}
	if c.AuditDir != "" {
		opt.Hide = append(opt.Hide, c.AuditDir)
	}
	opt.Hide = append(opt.Hide, c.OwnFiles...)
	if err := opt.Check(); err != nil {
		return opt, err
	}
	if c.Sandbox == "" {
		return opt, nil
	}
	return opt, opt.Level.UnmarshalText([]byte(c.Sandbox))
}
