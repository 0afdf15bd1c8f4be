// Package policies holds what the graph shows against what is allowed.
//
// A policy is a YAML file: what it forbids or requires as a path through the
// graph with a condition, why, what to do about it, who is exempt, and examples
// with small graphs that show it firing and staying silent. In come the policy
// files ([Load]: built in, with a folder before them) and an open graph; out
// come violations, each with its path, reason, remedy and the digests of the
// statements behind it ([Policy.Check]).
//
// Whether a violation fails a command is the command's decision ([AtOrAbove]).
// The package must not know how servers are checked or what is published.
package policies
