// Package graph says what depends on what, so that a fault in one place is
// seen everywhere it reaches. It is an index over the statements, kept in
// Cayley, and can always be made again from them: delete it and apply them.
//
// In come verified statements ([Graph.Apply]) and whole listings
// ([Graph.ApplySource]); out come rows of a path query ([Graph.Query]), what a
// node inherits ([Graph.Risk]), who inherits from it ([Graph.Blast]) and a
// canonical export ([Graph.Export]). What the graph holds depends on what was
// applied and not on order, batches or repetition; a crash is repaired by the
// next Apply.
//
// Every fact is a quad whose label is its evidence: the attestation that says
// it, the entry of a source that says it, or "derived" when it follows from a
// name alone. Kinds, edges and fields are data, in schema.go.
//
// Only this package knows Cayley. It must not know how statements are made,
// signed or published. The graph is private: it holds results that disclosure
// holds back.
package graph
