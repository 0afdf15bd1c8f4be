// Package rubric turns the outcomes of checks into a score and a grade.
//
// A rubric is data (one YAML file each, embedded): which phases make up which
// category, what a category weighs, what a failed check costs, which dangers
// cap the total, and where the grades begin. In come verdicts, one or more a
// check; out comes a Score that names its rubric. Scores of different rubrics
// are never compared.
//
// It knows nothing of MCP, of reports or of how a verdict was reached, so that
// a verifier can recompute a score from the verdicts alone.
//
// # Arithmetic
//
// Everything is computed in whole numbers and rounded once, at the end, to one
// decimal, halves up: 87.25 is 87.3. The grade is read off the rounded total,
// the number people see. Coverage is a percentage, from 0 to 100.
package rubric
