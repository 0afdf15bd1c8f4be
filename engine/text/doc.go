// Package text judges the words of a catalogue: everything that a model reads
// before it decides what to call.
//
// In come fields (a path and the text found there), out come matches: which
// rule, how severe, where, and a quote with invisible characters shown as code
// points. Fields that are scanned together are read as one text too, since a
// signal can be split over them.
//
// Texts are judged as a model would understand them: after compatibility
// folding (NFKC), case folding and the removal of invisible characters, with
// and without look-alike letters read as Latin. Rules are data (rules.yaml),
// built from the kinds of attack and not from the wording of samples; what a
// script legitimately needs (joiners, variation selectors, emoji sequences,
// right-to-left marks) is no finding, and neither is a mention of an attack by
// a tool that looks for it.
//
// It knows nothing of MCP beyond the shape of a definition, and judges no
// server: that is the work of package check.
package text
