// Package output keeps what a command printed: every byte, with its stream
// and its time, on disk, under a cap, so that it can be read while it is
// being written and after everything else has died.
//
// # Files
//
// In the folder of one process (processes/ID):
//
//	output                             the head: the first bytes
//	output.index                       whose bytes they are, and when they came
//	output.00000000000016777216        a tail segment; its name is the offset
//	output.00000000000016777216.index  of its first byte in the whole output
//	cursors/NAME.json                  how far a reader has read
//
// A segment holds exact bytes and nothing else: `cat output output.0*` is what
// the command wrote, unless something was dropped. With a cap C the head keeps
// the first C/4, and the rest is a chain of segments of C/8 of which the
// oldest is removed before a new one is begun, so that data never exceeds C.
// An index is a header (start offset, start line) and fixed-size records
// (offset, stream, time), one where the stream changes or 10 ms have passed.
// Segments end at a line end where one is near.
//
// # How data flows
//
//	pipe ──▶ Writer.Write ──▶ index record, bytes ──▶ Reader.Scan ──▶ Copy    raw
//	                     └──▶ ring (last 16 KiB)             │──▶ Follow  raw, as it comes
//	                              └─▶ Tail                   └─▶ Text ──▶ Drain (poll)
//	                                                                 └──▶ Lines, Aggregate (log)
//
// # What holds after a crash
//
// Nothing is kept that does not follow from the files. The end of the output
// is the start of the last segment plus its size. What was dropped is whatever
// lies between the end of one segment and the start of the next; that is also
// how bytes that could not be written are accounted for: after a failed write
// the next segment simply starts further on. Lines come from the start line in
// each header. Each boundary of a write:
//
//   - An index record goes to the file before the bytes it speaks of, so that a
//     reader that sees the bytes also knows their stream. A record without
//     bytes is superseded by the next one at the same offset.
//   - A torn record is ignored, and overwritten by the next.
//   - An index is created before its segment and removed after it. One without
//     a segment is nothing, and swept away by the next OpenWriter.
//   - A segment is removed before the next is created: a reader that finds a
//     segment gone takes it for dropped and goes on.
//   - A power cut may lose the end of the data (it is not synced for each
//     write, that would block the command): the size decides, records beyond
//     it are ignored.
//
// # Never in the way
//
// Write has no result. A full disk, a file that was deleted, cut or replaced by
// a directory, a folder that is gone: the bytes are counted as dropped, the
// reason is kept in Problems, and later writes try again. No reader can hold up
// the writer: there is no lock between them.
package output
