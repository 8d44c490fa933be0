//go:build !linux && !darwin

package daemon

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
)

const longestSocket = 107

var errUnsupported = errors.New("on this system a client can end what its servers have started, and a socket does not tell who connects; serve over HTTP in the place of it: toolcrib serve --http=127.0.0.1:8080")

// Supported says why this system has no daemons.
func Supported() error { return errUnsupported }

type peer struct{ uid, pid int }

func peerOf(*net.UnixConn) (peer, error)     { return peer{}, errUnsupported }
func descends(int, int) bool                 { return true }
func hungUp(*net.UnixConn) (gone, open bool) { return false, false }
func own(fs.FileInfo) bool                   { return false }
func executable() (string, error)            { return "", errUnsupported }
func tryLock(*os.File) (bool, error)         { return false, errUnsupported }
func nobody(error) bool                      { return false }
func ended(*os.Process) bool                 { return true }
func lead(*exec.Cmd)                         {}
func leads() bool                            { return false }
func keepOwn(...*os.File)                    {}

// Reload tells a daemon to read its settings again.
func (j *Joined) Reload() error { return errUnsupported }

// World describes the process's rights on this system.
func World() []string { return nil }
