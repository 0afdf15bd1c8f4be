// Package verify judges statements that somebody else made: who signed them,
// what they are about, and whether their numbers follow from their verdicts.
//
// In come bytes (a statement, its bundle, a folder) and public keys; out comes
// a [Result], a list of criteria with an outcome each. Nothing passes because
// it was not looked at: without a key the signature is "not asked", and a
// result with a "not asked" signature is not verified unless the caller said
// that it accepts one ([Options.AcceptUnsigned]).
//
// The package imports neither the checks nor the graph. It knows the statement,
// the rubric's arithmetic and the Sigstore verifier, and must not know how a
// verdict came about; that independence is its worth.
package verify
