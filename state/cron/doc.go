// Package cron holds the meaning of cron expressions: what they match, when
// they match next, and how to say it in words. It has no clock and does no
// I/O; the zone is passed in.
//
// The grammar is that of spec/heartbeat-automations.md 2.5, strict where a
// lenient reading would run something at a time nobody meant.
//
//	minute hour day-of-month month day-of-week                 5 fields
//	second minute hour day-of-month month day-of-week [year]   6 or 7
//	@hourly @daily @midnight @weekly @monthly @yearly @annually
//
// A field that begins with * (also */2), or is ?, is a wildcard. Two things
// hang on that, both as in cron(8) and crontab(5):
//
//   - Day of month and day of week, if neither is a wildcard, are OR; else, and
//     with + before the day of week, a day must match both.
//   - When a zone changes its clocks by at most three hours, a schedule whose
//     hour and minute are no wildcards is for fixed times: each runs once, in
//     a gap when the clock jumps, in a repeat the first time. A schedule with a
//     wildcard there follows real time. A change of more than three hours is a
//     correction: the new time counts and nothing is made up.
//
// Times that fall together, as 02:00 and 02:30 in the same gap, are one
// occurrence: an occurrence is an instant.
package cron
