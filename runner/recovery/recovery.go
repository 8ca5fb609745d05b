// Package recovery compares what the ledgers say with what is there, for
// doctor: the same code reports and mends.
package recovery
