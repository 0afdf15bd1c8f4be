package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/lustrum-mcp/lustrum/graph"
)

// printRows prints the answer to a query: a number, groups, or a line a path.
func printRows(w io.Writer, r *graph.Rows) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	switch {
	case r.Groups != nil:
		for _, g := range r.Groups {
			fmt.Fprintf(tw, "%d\t%s\n", g.Count, oneLine(g.Value))
		}
	case len(r.Rows) > 0:
		fmt.Fprintln(tw, strings.Join(r.Columns, "\t"))
		for _, row := range r.Rows {
			names := make([]string, len(row.Nodes))
			for i, n := range row.Nodes {
				names[i] = oneLine(n.Name)
			}
			fmt.Fprintln(tw, strings.Join(names, "\t"))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	more := ""
	if r.Truncated {
		more = " shown, there are more"
	}
	if r.Undecided > 0 {
		more += fmt.Sprintf(", %d could not be decided because a node lacks a field of the condition", r.Undecided)
	}
	_, err := fmt.Fprintf(w, "%s%s\n", plural(r.Count, "path"), more)
	return err
}
