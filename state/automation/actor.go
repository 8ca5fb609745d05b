package automation

// Operator is the Owner of what a person made.
const Operator = "operator"

// Actor is who makes or changes an automation. The zero value is an operator,
// who may do everything (seed 003 section 10).
type Actor struct {
	Agent string   // from within a turn of this agent; empty: an operator
	Tools []string // what that turn may use: ["*"] everything; empty is none
}
