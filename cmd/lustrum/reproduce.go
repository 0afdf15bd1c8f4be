package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/lustrum-mcp/lustrum/dataset"
)

// printReproduction prints a line for each part, then the verdict.
func printReproduction(w io.Writer, r *dataset.Reproduction) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	counts := map[dataset.Sameness]int{}
	for _, i := range r.Items {
		counts[i.Outcome]++
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", oneLine(i.Edition), i.Outcome, i.Kind, oneLine(i.Name), oneLine(i.Detail))
	}
	if err := tw.Flush(); err != nil {
		return unwritable(err)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note:", oneLine(note))
	}
	word := "reproduced"
	if r.Different() {
		word = "DIFFERENT"
	}
	_, err := fmt.Fprintf(w, "%s: %d the same, %d different, %d not asked\n", word, counts[dataset.Same], counts[dataset.Different], counts[dataset.NotAsked])
	return unwritable(err)
}
