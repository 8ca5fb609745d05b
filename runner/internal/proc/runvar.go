package proc

// RunVar is the variable that marks everything a command starts with its
// process's ULID (Mark). People and scripts read CLAW_PROCESS_ID, the slug.
const RunVar = "CLAW_PROCESS_RUN"
