// Package near finds the word that somebody meant: the nearest of those that
// are known, for messages such as "did you mean ...?". It knows nothing of the
// rest of the house.
package near
