package harness

import (
	"encoding/json"
	"os"
)

const desktopPackage = "@wonderwhy-er/desktop-commander"

// Desktop is DesktopCommander, a server of files and terminals.
func (e Environment) Desktop() Program {
	return Program{"DesktopCommander", []string{"node", e.NPM(desktopPackage + "/dist/index.js"), "--no-onboarding"}}
}

// DesktopVersion is the version of DesktopCommander.
func (e Environment) DesktopVersion() (string, error) {
	data, err := os.ReadFile(e.NPM(desktopPackage + "/package.json"))
	if err != nil {
		return "", err
	}
	var about struct{ Version string }
	err = json.Unmarshal(data, &about)
	return about.Version, err
}

// ConfineDesktop has DesktopCommander keep to a directory and tell nobody of its use.
func ConfineDesktop(u *ToolUser, dir string) error {
	for key, value := range map[string]any{"telemetryEnabled": false, "allowedDirectories": []string{dir}} {
		if _, err := u.Must("set_config_value", map[string]any{"key": key, "value": value}); err != nil {
			return err
		}
	}
	return nil
}
