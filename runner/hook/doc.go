// Package hook takes in what comes from outside and has agents see to it.
//
//	Accept   one transaction: the request is refused, is the same as one before,
//	         or is a row of ledgers/hooks.jsonl with a task; AcceptAll: several so,
//	         all or none
//	Await    until its turn has begun, or never will: the answer to whoever asked;
//	         GiveUp, where that one ends: it has begun, or never will
//	Pass     what may begin now (external.Plan), and what is too late
//	Run      one turn, of whose admission the dispatch is part
//	TurnEnded, Delivered   what follows in the transactions that end the turn and
//	         the delivery of its reply
//	Reap     sessions that nobody needs any more
//	Gate     webhooks: who may post, what becomes of a body, which status that is
//
// # Who carries it out
//
// Whoever holds runner.lock: a runner, or a tick that Accept's caller has started.
// So there is one place that counts who runs, the caller may die at any moment,
// and so may the one who carries it out.
//
//   - Before Accept's transaction: nothing has happened.
//   - After it (hook-accepted): the row waits. Whoever comes next begins it within
//     its deadline or refuses it; the caller that still waits refuses it too, by
//     the same move, so that exactly one of the two happens.
//   - At the admission, which is one transaction over the turn and the dispatch:
//     from here on it has been promised (ok), and does not begin a second time.
//   - After it: the turn is ended by whoever finds it (agent.Settle), and the
//     dispatch with it. An agent that provably did nothing is asked again, twice;
//     one of which nobody knows what it did is not, and the agent's main session
//     is told.
//
// Where nothing begins (safe mode, a runner that ends; Held) whoever waits for the
// beginning is refused at once. What need not begin at once is written down all
// the same, and if it cannot be begun later the main session is told: nobody else
// would learn of it.
//
// A task that is cancelled while its dispatch waits keeps it from beginning.
//
// # What is posted
//
// A Gate is served by package http1, in a program of its own or beside a runner;
// either way it only writes down and waits. Idempotency is that of the ledger, so
// that it outlives both. Each request is judged by the configuration as it is at the
// moment; how many may wait is counted over all of them, so that those that need
// not wait find a place. The right token is let in however many wrong ones came
// before it: behind a proxy all clients are one, and whoever guesses must not shut
// out the others.
package hook
