package attest

import _ "embed"

// Schema is the JSON Schema 2020-12 of a statement, as the site serves it. It
// says what Decode accepts, as far as a schema can: that the subject's digest
// fits the endpoint, that times are in order and that bytes are canonical is
// beyond one.
//
//go:embed statement.schema.json
var Schema []byte
