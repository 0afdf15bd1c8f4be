// Package pipeline strings the rooms together: one run lists a slice of a
// registry, checks its endpoints, signs what was seen, applies it to the
// graph, decides what may be public and publishes an edition.
//
// In goes a Config; out come a data directory (statements, evidence, graph)
// and a published folder that is switched in with one rename. Every step is
// idempotent: a run that was killed anywhere is finished by the next one, and
// a run of an edition that is complete changes nothing.
//
// The room holds no rule of its own about servers: what is judged, scored,
// forbidden or held back is decided in the rooms before it.
package pipeline
