// Package target says what may be contacted and what it is called.
//
// In come URLs in any spelling and the lines of a targets file; out go
// canonical endpoints with their ids, and targets: one origin each, with the
// paths that were named on it. A line that names more than one host (a range,
// a wildcard, a template) is refused here, before anything is sent.
//
// The package must not know how a target is contacted, what was found there,
// or who listed it: it opens no connection and resolves no name.
package target
