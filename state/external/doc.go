// Package external holds what comes from outside and is not to be trusted: how it
// is shown to an agent, and what becomes of it. It has no clock, no randomness
// and does no I/O.
//
//	Mail          the readable part of a message, whatever its encodings; the tables
//	              of charsets with many characters are part of the program, packed
//	Wrap          the prompt: a warning, and the content between markers that it
//	              cannot write itself
//	Request       who is to be told what; Check refuses it in the order of
//	              spec/tasks-recovery.md 5.2
//	Dispatch      the row of an accepted request, and its moves
//	Budget        which of those that wait may begin: first in, first out for each
//	              session, within what automations may use too
//	Report        how it ended, and what the agent's main session is told
//	Mapping       what is made of the body of a webhook: Match finds the first that
//	              fits, Items and Request make requests of it
//	Render        {{a.b[0].c}} in the texts of a mapping
//
// The wrapper has no switch: nothing here makes a prompt without it.
package external
