package jobs_test

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"toolcrib/tools/internal/programs/jobs"
)

// What a terminal has got of its program is unread at once, until somebody has read it.
func TestUnread(t *testing.T) {
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("needs: /dev/ptmx: ", err)
	}
	defer ours.Close()
	fd := int(ours.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	job := jobs.OfTerminal(ours)
	for range 1000 {
		if job.Unread() {
			t.Fatal("nothing was written")
		}
		if _, err := theirs.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		if !job.Unread() {
			t.Fatal("what was written is not unread")
		}
		if n, err := ours.Read(make([]byte, 10)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
}
