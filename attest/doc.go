package attest
