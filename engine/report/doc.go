// Package report writes a check.Report for people and for machines.
//
// In comes a report, out goes text made for reading (the judgement first, then
// what to repair, the worst first) or a JSON document whose form is fixed by a
// JSON Schema (report.schema.json) that is part of the package. Everything a
// server controls is escaped on the way out, and every format counts the same
// things the same way.
//
// It judges nothing and knows nothing of how a report came about.
package report
