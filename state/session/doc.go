// Package session holds conversations with agents: keys, the session's row,
// its turns, the transcript with its filter, and the rules of recovery. It has
// no clock and does no I/O.
//
//	message ──▶ Turn (admitted: one transaction with the Session) ──▶ reply ──▶ Turn (ended)
//	                     └──────────── Entry ──▶ sessions/FILE.jsonl ◀── Entry ┘
//
// The row of a turn is the truth; the transcript is written from it, by entry
// ids that follow from the turn's, so that writing it again changes nothing.
//
// # Recovery
//
// What becomes of a turn that was cut off is a Cycle. It is a field of the
// session's row, not a ledger of its own: each of its moves belongs to something
// that writes that row anyway (a turn begins or ends, a session is renewed),
// whoever wants to begin a turn reads it at no cost, and a row has one revision,
// so that nobody decides by half of it.
//
//	a turn is cut off ──▶ interrupted ──Reserve──▶ reserved ──End──▶ closed (completed, failed, cancelled)
//	                        ▲  │  └──Close──▶ closed                │
//	                        │  └──Tombstone──▶ tombstoned           │
//	                        └────────── refused, or nobody knows ───┘
//
// The commands of spec/tasks-recovery.md 4.4, and what they are here:
//
//	mark_interrupted                         Interrupt
//	mark_admitted_recovery_interrupted       End with AttemptUncertain
//	observe                                  Observe; View for whoever only reads
//	prepare_attempt                          Reserve
//	cancel_reservation                       End with AttemptRefused
//	abandon_reservation                      End with AttemptUncertain or AttemptUnstarted
//	claim, validate, release_foreground      Claim, Cycle.Foreground, Release
//	tombstone                                Tombstone
//	fail_recovery, clear                     Close
//	doctor_repair                            Session.Contradiction, Session.Mended
//	validate_recovery, admit_recovery        none
//
// There is no admit_recovery, for here it would say nothing. An agent is a
// program: that it was started is no acceptance (it may still answer 75), and
// what it has accepted is known with its exit code, which is its end. So an
// attempt is reserved in the transaction that admits its turn and ends in the
// one that ends its turn; until then the row of the turn is the fence.
//
// There are no generations of processes either. Who makes an attempt, or works
// in the session by hand, is a turn, and whether somebody is there still is
// told by the locks of that turn (lane, life-line), never by a name. A lane
// holds one turn at a time: there is one foreground claim at most.
//
// Rows of before there were cycles get none: of their turns people have been
// told already.
//
// A rejection undoes nothing: every command returns the cycle as it was,
// together with the *Rejection.
//
// # Which transaction writes what
//
//   - Admission of a person's turn: View(…).Admits, Claim with the transcript as
//     it is before the turn; Turn and Session with the cycle.
//   - Admission of an attempt: Reserve with the Ticket of the View that was
//     decided about; Turn (Kind recovery, or the source's for StepBegin;
//     DispatchID and Attempt of the cycle, Route and ReplyMode of the source,
//     its EventIDs) and Session with the cycle. Nothing is started before that
//     is on disk: the charge comes before the dispatch.
//   - Admission of any other turn: View(…).Admits, nothing else.
//   - End of a turn, whoever writes it: Cycle.AfterTurn, Session.WithCycle; then
//     the Turn; then its events. Of a turn that is kept by the cycle they become
//     unknown without a word to anybody; they are consumed when the cycle is
//     completed. What is owed (the dropped source, Cycle.Owes) is a delivery in
//     the same transaction, under ResendKey or TombstoneKey.
//   - Close and Tombstone: Session.WithCycle, and the delivery that is owed.
//   - Renewal: Close with EndDismissed if something waits, what is owed, and
//     Session.Renewed.
//
// Before a turn is called lost, whoever settles it asks for an answer that is
// known (Turn.Response, FinalReply): then it ends as one that has answered, and
// there is no cycle.
package session
