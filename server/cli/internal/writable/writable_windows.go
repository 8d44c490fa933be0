package writable

import "golang.org/x/sys/windows"

// fileAddFile is FILE_ADD_FILE, the right to make files in a directory.
const fileAddFile = 0x2

// Is reports whether this process may make files in a directory. It asks
// the system and touches nothing.
func Is(dir string) bool {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return false
	}
	const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, fileAddFile, shareAll, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return false
	}
	return windows.CloseHandle(h) == nil
}
