// Package ledger keeps the files of a state directory: JSONL ledgers behind a
// write-ahead journal, with checksums, repair, quarantine, compaction and
// archives. It knows bytes, not kinds of records, and takes no lock: package
// state decides who writes, and what the records mean.
//
// # What is the state
//
// The first line of journal.jsonl, its Header, says how many bytes of each
// ledger are checkpointed. The state is those bytes, overlaid by the
// transactions in the rest of the journal: for each id the last line wins.
// Whatever follows the checkpointed bytes in a ledger repeats the journal, for
// people with jq, and is never read by claw.
//
//	Commit      journal += one line            then, best effort: ledgers += its lines
//	Checkpoint  archive += old rows, sync      ledgers: complete, or rewrite as NAME.jsonl.GEN, sync
//	            journal := new header          (rename: the commit point)      NAME.jsonl.GEN → NAME.jsonl
//
// # Why no crash hurts
//
// Killed while appending to the journal: the line is torn, nothing has read
// it, the next writer cuts it. Killed after that: the transaction is complete;
// the ledgers lack its lines, which shows in their length, and the next writer
// of that ledger or the next checkpoint completes them from the journal.
//
// Power cut: a transaction whose sync has returned stands in the journal, for
// the sync covers all bytes before it. Later ones may be torn. What is lost or
// zeroed in a ledger lies behind its checkpointed bytes, or it would have been
// synced; since lengths prove nothing in another boot, the first writer there
// begins with a checkpoint, which compares every byte.
//
// Dead within a checkpoint: before the rename of the journal the old header
// still counts what it counted, and those bytes have not been touched; what
// was appended behind them is cut and written again, archive lines appear
// twice and the last one counts, a rewritten ledger is a stray file. After the
// rename the new header finds a rewritten ledger under either name.
//
// Full disk: a line of the journal that does not fit is cut off again and the
// transaction has not happened. A checkpoint that does not fit has not
// happened either; the journal goes on growing until it fits.
//
// A reader takes no lock. It loads the journal, opens the ledgers, and looks
// whether the journal is still the same file: checkpointed bytes never change
// in place, so what it holds open is one state for as long as it likes.
//
// # What a checksum is for
//
// Each line has its own, so that a damaged line costs itself and no more.
// A checkpointed ledger has one over all its bytes, so that reading need not
// check lines; only if it does not match does every line answer for itself.
// That is also how a person may edit a ledger: take the "sum" out of the line,
// and the next checkpoint makes it whole.
package ledger
