// Package agent runs turns: one prompt to one agent in one session, and its
// reply.
//
//	Request ─▶ lane (a held lock) ─▶ admission: Turn + Session, one transaction
//	        ─▶ hooks ─▶ the argv under a supervisor, prompt on stdin ─▶ reply = its stdout
//	        ─▶ transcript ─▶ end: Turn + Session + what OnEnd adds (events, deliveries, monitor), one transaction
//
// Whoever waits may die: the argv goes on under its supervisor, and Settle
// finishes the turn from what is on disk by the same code (conclude).
//
// # What is known at each death of the one who waits
//
//   - In the lane, before the admission: nothing has happened.
//   - After the admission (turn-admitted): the row names the process the argv
//     would be, and there is none. The agent was never started: not accepted.
//     That is also so while hooks are asked, which is why the admission comes
//     before them (seed 003, 14): a message is not forgotten because a hook was
//     slow, and the others see who is in the lane.
//   - After the launch (turn-launched): the argv runs or has ended. As long as
//     its supervisor holds the life-line the lane counts as taken; then the turn
//     is ended by the exit code and the output on disk.
//   - After the transcript (turn-ending): its lines have ids that follow from the
//     turn's, and are not written twice. They come before the end so that no
//     ended turn lacks them; had they come after it, every settler would have to
//     read every transcript.
//   - After the end (turn-ended): nothing is left to do.
//
// A supervisor that dies leaves a turn of which nobody knows what its agent
// did: lost, and never repeated by itself.
package agent
