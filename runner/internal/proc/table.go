package proc

import (
	"claw/state/process"
)

// Row is one process as the kernel lists it.
type Row struct {
	process.Identity
	Parent  int  // pid of the parent
	Group   int  // process group
	Session int  // session
	Zombie  bool // has ended and waits to be reaped; it runs nothing any more
}

// Table is one look at all processes, by pid. It is not a snapshot in time:
// processes come and go while it is read.
type Table map[int]Row

// Has tells whether exactly this process stands in the table, zombie or not.
func (t Table) Has(id process.Identity) bool {
	row, ok := t[id.PID]
	return ok && row.Identity == id
}

// Descendants are the living processes below pid, without pid itself. A row
// for which spare is true is left out together with everything below it; a nil
// spare spares nobody.
func (t Table) Descendants(pid int, spare func(Row) bool) []Row {
	children := t.children()
	var found []Row
	seen := map[int]bool{pid: true} // a table read while pids are recycled may hold a loop
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		for _, kid := range children[queue[0]] {
			row := t[kid]
			if seen[kid] || (spare != nil && !row.Zombie && spare(row)) {
				continue
			}
			seen[kid] = true
			queue = append(queue, kid)
			if !row.Zombie {
				found = append(found, row)
			}
		}
	}
	return found
}

// children turns the parent links round.
func (t Table) children() map[int][]int {
	kids := make(map[int][]int, len(t))
	for pid, row := range t {
		kids[row.Parent] = append(kids[row.Parent], pid)
	}
	return kids
}

// Members are the living processes in the session or the group that leader
// leads or led, started no earlier than it. Without more proof (the leader is
// in the table, or ancestry, or a mark) they may belong to a later owner of
// the same number.
func (t Table) Members(leader process.Identity) []Row {
	var found []Row
	for _, row := range t {
		if row.Zombie || row.Start < leader.Start {
			continue
		}
		if row.Session == leader.PID || row.Group == leader.PID {
			found = append(found, row)
		}
	}
	return found
}

// Describe turns identities into what is kept and shown of survivors.
func Describe(ids []process.Identity) []process.Leftover {
	left := make([]process.Leftover, 0, len(ids))
	for _, id := range ids {
		left = append(left, process.Leftover{Identity: id, Command: CommandLine(id.PID)})
	}
	return left
}
