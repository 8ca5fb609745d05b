// Package config reads claw.toml and the environment, and finds the two
// directories claw lives in. It is the only importer of the TOML decoder.
//
// One table (schema.go, schema_agents.go) names every key with its kind,
// range and help. Everything else is derived from it: decoding, the errors,
// the nearest valid key, `claw config show`, the manual page claw.toml.5.
//
// How a value comes about, strongest first:
//
//	command-line flag              the commands' business, not this package's
//	claw.toml                      walk (decode.go) → rule.set (value.go)
//	CLAW_* > OPENCLAW_* > PI_*     applyEnv (env.go)
//	built-in default               defaults (config.go)
//
// "Config wins over env" is spec/exec-process.md section 6. A missing file
// costs one failed open: neither the decoder nor the table is touched.
//
// What is wrong with a file is an *Error that lists every Problem with file,
// line, key, rule and the nearest valid key. What is merely odd (a number that
// was clamped, an environment integer that was ignored) is a Warning in
// Config.Warnings: `claw config check` shows them, nothing else needs to. So
// are the names that nothing can be done with (sense.go); what depends on the
// machine is looked for by Check, and by nobody else.
package config
