package processes

import (
	"os"
	"strconv"
	"strings"
)

// Alone returns the name of the process that leads a process group, if none of its children is
// in the group; else, or if that is unknown, "". If the group has the terminal, this process
// is the one that reads it.
func Alone(group int) string {
	if group <= 0 {
		return ""
	}
	dir := "/proc/" + strconv.Itoa(group)
	name, err := os.ReadFile(dir + "/comm")
	if err != nil {
		return ""
	}
	children, err := os.ReadFile(dir + "/task/" + strconv.Itoa(group) + "/children")
	if err != nil {
		return ""
	}
	for child := range strings.FieldsSeq(string(children)) {
		if g, ok := groupOf(child); ok && g == group {
			return ""
		}
	}
	return strings.TrimSpace(string(name))
}

// Dir returns the working directory of a process on the host, "" if it is unknown.
func Dir(pid int) string {
	dir, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return ""
	}
	return dir
}

// groupOf reads the group of a process; false = it has ended.
func groupOf(pid string) (group int, ok bool) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest) // state, parent, group
	if len(fields) < 3 {
		return 0, false
	}
	group, err = strconv.Atoi(fields[2])
	return group, err == nil
}
