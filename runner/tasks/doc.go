// Package tasks looks after the ledger of tasks: it shows the rows as they
// really are, ends what a person cancels, and finds and mends what was left
// behind.
//
//	look    row ──▶ what is known of who carries it out (task.Evidence)
//	judge   row + evidence ──▶ what is to be done (package state/task, pure)
//	act     nothing (list, show, audit, preview), or one transaction
//
// A list, an audit, a preview and the real run judge with the same function,
// so that they cannot disagree. Each row is read and judged again within the
// transaction that changes it: what ended meanwhile is kept, and doing it twice
// changes nothing.
//
// What a process left behind when its supervisor died is written by package
// settle, with its end, its task and the event in one transaction; here it is
// only counted.
package tasks
