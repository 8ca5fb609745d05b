// Package prompts is what claw says to an agent: embedded texts, each of which
// a file of the same name in the prompts folder beside claw.toml replaces. It
// imports nothing of claw.
package prompts
