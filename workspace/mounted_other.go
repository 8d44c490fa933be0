//go:build !linux

package workspace

import "os"

// mountedRoot tells whether an entry lies on another device than dev.
func mountedRoot(root *os.Root, name string, dev uint64) (bool, error) {
	fi, err := root.Lstat(name)
	if err != nil {
		return false, err
	}
	return infoOf(fi).Device != dev, nil
}

// syncAll is not offered: the caller syncs file by file.
func syncAll(dir) (done bool, err error) { return false, nil }
