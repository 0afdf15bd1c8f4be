// Package sign signs statements with a key on disk.
//
// In comes a payload (the canonical bytes of a statement); out goes a Sigstore
// bundle v0.3 that carries it in a DSSE envelope, as canonical JSON. With an
// Ed25519 key the same payload gives the same bundle, byte for byte, which is
// what lets an edition be published twice and be one.
//
// The package must not know what a statement says or whether it is true, and it
// never verifies: a signer that judges its own work proves nothing (package
// verify is the judge).
package sign
