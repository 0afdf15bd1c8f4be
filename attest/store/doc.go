// Package store keeps statements, their bundles and the recorded evidence on
// disk under their own digests: the source of truth that everything else is
// rebuilt from.
//
// In come bytes; out come the same bytes, or an error that names the file whose
// content no longer fits its name. Writing is idempotent and survives being
// killed anywhere: temporary file, fsync, rename, with the bundle first, so that
// a statement that is there has its bundle.
//
//	statements/ab/<sha256>.json            canonical statement
//	statements/ab/<sha256>.json.sigstore.json   its bundle
//	evidence/ab/<sha256>                   one recording, as given
//
// The package must not know whether a statement can be believed (package
// verify) or what is made of it.
package store
