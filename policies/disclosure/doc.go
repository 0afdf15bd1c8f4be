// Package disclosure decides what a census may publish about other people's
// servers: a published verdict must not be a map for an attacker.
//
// In come the records of an edition, a secret seed and the audience; out comes
// which records are public ([Decide]). For the public, servers that a rule
// holds back are left out together with a cover of healthy ones, so that a gap
// is as likely innocent as not; the one number that may be told is how many are
// not in the edition. Why a server is held back stays with the caller, in
// private.
//
// The rules (D1 to D4) are YAML files with examples; code only evaluates them.
// The package must not know how records are published or owners told.
package disclosure
