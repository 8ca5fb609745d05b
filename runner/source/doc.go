// Package source looks at what automations wait for besides the clock: files
// that change, and the output of a command that goes on
// (spec/heartbeat-automations.md 3.4, 3.5; pains B30).
//
//	watch:  wake.Tree ─ hints ─▶ quiet for 500 ms ─▶ Set.C ─▶ a pass ─▶ Set.Look: Scan ─▶ digest
//	stream: the process's directory ─ hints ─▶ batchMs ─▶ Set.C ─▶ a pass ─▶ Read: whole lines after the cursor
//
// Nothing here is written down. What has been told already is in the ledger
// (the digest of a scan, the cursor in the output), and the pass that queues a
// run moves it in the same transaction. So a hint may be lost, and so may all
// of a Set: the next look finds what is different.
package source
