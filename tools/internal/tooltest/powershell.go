package tooltest

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed pwsh.sh
var fakePowerShell []byte

// PowerShell makes sure that pwsh is on PATH where bash is: it puts a script into dir that
// takes the command line of pwsh and knows the few commands of the tests, and dir before
// PATH. It is for a machine without PowerShell, and does nothing on one with it.
func PowerShell(dir string) error {
	if _, err := exec.LookPath("pwsh"); err == nil {
		return nil
	}
	if _, err := exec.LookPath("bash"); err != nil {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, "pwsh"), fakePowerShell, 0o755); err != nil {
		return err
	}
	return os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}
