// Package engine groups the rooms that judge one server: the checks and their
// phases (check), what hides in text (text), the score (rubric) and the report
// (report). In goes an endpoint and a way to reach it, out comes a report. It
// knows nothing of statements, graphs or publication.
package engine
