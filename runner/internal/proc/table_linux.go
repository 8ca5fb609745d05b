package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func readBoot() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
}

// Scan reads every process that /proc shows, in one pass.
func Scan() (Table, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	table := make(Table, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if row, ok := readRow(pid); ok {
				table[pid] = row
			}
		}
	}
	return table, nil
}

// readRow reads /proc/PID/stat. The line is at most a few hundred bytes: one
// read into a buffer on the stack.
func readRow(pid int) (Row, bool) {
	var buf [1024]byte
	n, ok := readOnce("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if !ok {
		return Row{}, false
	}
	row, ok := parseStat(buf[:n])
	row.Boot, row.PID = Boot(), pid
	return row, ok
}

// readOnce reads the beginning of a /proc file without the cost of an os.File.
func readOnce(path string, buf []byte) (int, bool) {
	fd, err := ignoringEINTR(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, buf) })
	return n, err == nil && n > 0
}

// The fields of /proc/PID/stat that follow the command's name, numbered from
// the state (field 3 in proc_pid_stat(5)).
const (
	statState   = 0
	statParent  = 1
	statGroup   = 2
	statSession = 3
	statThreads = 17
	statStart   = 19 // field 22: clock ticks since boot
	statFields  = 20
)

// parseStat reads a line of /proc/PID/stat, without boot and pid. The name in
// parentheses may hold blanks, newlines and parentheses of its own, so the
// fields begin after the last ')'.
func parseStat(line []byte) (Row, bool) {
	i := bytes.LastIndexByte(line, ')')
	if i < 0 {
		return Row{}, false
	}
	var field [statFields]string
	n := 0
	for f := range strings.FieldsSeq(string(line[i+1:])) {
		if n == statFields {
			break
		}
		field[n] = f
		n++
	}
	if n < statFields {
		return Row{}, false
	}
	return rowOf(field)
}

// rowOf converts the fields. A thread group whose first thread has ended
// shows Z while its other threads run on: that is not a zombie.
func rowOf(field [statFields]string) (Row, bool) {
	var row Row
	var err [5]error
	var threads int
	row.Parent, err[0] = strconv.Atoi(field[statParent])
	row.Group, err[1] = strconv.Atoi(field[statGroup])
	row.Session, err[2] = strconv.Atoi(field[statSession])
	threads, err[3] = strconv.Atoi(field[statThreads])
	row.Start, err[4] = strconv.ParseUint(field[statStart], 10, 64)
	switch field[statState] {
	case "Z", "X", "x":
		row.Zombie = threads <= 1
	}
	return row, err == [5]error{}
}

// Argv is the argument vector of pid as it shows itself; nil when it has
// ended or is a thread of the kernel.
func Argv(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return nil
	}
	return splitNul(b)
}

// environ is the environment pid was started with; nil when it cannot be read.
func environ(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	return splitNul(b)
}

// comm is the kernel's short name of pid.
func comm(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
}
