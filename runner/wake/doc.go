// Package wake tells that something may have changed in a state directory, so
// that nobody has to look at intervals.
//
//	journal.jsonl, runner.poke ─▶ fsnotify on their directory ─▶ coalesced ─▶ Watcher.C
//	                                   └─ not possible: Look every two seconds ─┘
//
// A wake is a hint: losing one costs delay, never data, because whoever waits
// looks by himself once a minute. Therefore C holds one value and no more, and
// several changes within 50 ms are one wake. The first of them is told at once, and
// so is every poke: the start of a command must not delay the wake by its end.
//
// The directory is watched and never the file: replacing a file by rename takes
// a file's watch with it (pains B30). When the directory itself goes away, the
// watch goes with it; it is looked for until it is there again.
package wake
