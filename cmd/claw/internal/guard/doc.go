// Package guard holds, in tests alone, what keeps the house in order: who may
// import what, where files lie, how long they are, that everything exported is
// described, what is required, how big the program is and what it does before
// main. design.md section 2, style.md sections 2 (habit 16) and 5.
package guard
