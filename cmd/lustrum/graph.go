package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lustrum-mcp/lustrum/graph"
	"github.com/lustrum-mcp/lustrum/pipeline"
	"github.com/spf13/cobra"
)

func graphCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "graph", Short: "Ask what depends on what", Args: cobra.NoArgs, RunE: needsSubcommand}
	cmd.AddCommand(graphQueryCommand(), graphRiskCommand(), graphExportCommand(), graphRebuildCommand())
	return cmd
}

// withGraph opens the graph of a data directory for one question.
func withGraph(ctx context.Context, data string, ask func(*graph.Graph) error) error {
	path := filepath.Join(data, "graph.db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no graph in %q: run a census with --data %s first, or lustrum graph rebuild", data, data)
	}
	g, err := graph.Open(ctx, path, graph.Options{})
	if err != nil {
		return err
	}
	return errors.Join(ask(g), g.Close())
}

func graphQueryCommand() *cobra.Command {
	var (
		data, where string
		o           graph.QueryOptions
		asJSON      bool
	)
	cmd := &cobra.Command{
		Use:   "query PATH",
		Short: "List the paths through the graph that meet a condition",
		Long: `PATH names kinds of nodes joined by arrows; kinds in between are filled in
where there is one way, and ->* is any number of inheriting edges. --where is a
condition in CEL over the kinds of the path.`,
		Example: `  lustrum graph query 'server -> tool' --where 'tool.destructive && server.auth == "open"'
  lustrum graph query 'server -> check' --group check.id --data demo/data`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withGraph(cmd.Context(), data, func(g *graph.Graph) error {
				rows, err := g.Query(cmd.Context(), args[0], where, o)
				if err != nil {
					return err
				}
				if asJSON {
					return unwritable(printJSON(cmd.OutOrStdout(), rows))
				}
				return unwritable(printRows(cmd.OutOrStdout(), rows))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&where, "where", "", "condition in `CEL`")
	f.BoolVar(&o.Count, "count", false, "print the number of paths only")
	f.StringVar(&o.Group, "group", "", "count paths by a `field` such as server.grade")
	f.IntVar(&o.Limit, "limit", 0, "at most this many; 0 for all")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	dataFlag(cmd, &data)
	return cmd
}

func graphRiskCommand() *cobra.Command {
	var (
		data   string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "risk NODE",
		Short: "List what a node inherits, worst first, with the path to it",
		Long: `NODE is an endpoint URL, an endpoint id, a registry name, or KIND:KEY as the
graph prints it. Exits 2 when there is a failure among what it inherits.`,
		Example: "  lustrum graph risk https://mcp.example.com/mcp",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withGraph(cmd.Context(), data, func(g *graph.Graph) error {
				risks, err := g.Risk(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if asJSON {
					err = printJSON(cmd.OutOrStdout(), risks)
				} else {
					err = printRisks(cmd, risks)
				}
				if err != nil {
					return unwritable(err)
				}
				for _, r := range risks {
					if r.Status == "fail" {
						return errFound
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	dataFlag(cmd, &data)
	return cmd
}

func printRisks(cmd *cobra.Command, risks []graph.Risk) error {
	w := cmd.OutOrStdout()
	for _, r := range risks {
		level := r.Severity
		if r.Status != "fail" {
			level = r.Status
		}
		fmt.Fprintf(w, "%-8s %s at %s %s\n", level, oneLine(r.Check), r.At.Kind, oneLine(r.At.Name))
		for _, s := range r.Path {
			fmt.Fprintf(w, "         %s %s -%s-> %s %s\n", s.From.Kind, oneLine(s.From.Name), s.Edge, s.To.Kind, oneLine(s.To.Name))
		}
		fmt.Fprintf(w, "         evidence: %s\n", strings.Join(r.Evidence, ", "))
	}
	_, err := fmt.Fprintln(w, plural(len(risks), "finding"))
	return err
}

func graphExportCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the graph as canonical N-Quads",
		Long: `Prints every fact once, sorted: equal graphs give equal bytes. The graph holds
what disclosure holds back; don't publish the export.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withGraph(cmd.Context(), data, func(g *graph.Graph) error {
				return unwritable(g.Export(cmd.Context(), cmd.OutOrStdout()))
			})
		},
	}
	dataFlag(cmd, &data)
	return cmd
}

func graphRebuildCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the graph anew from the statements",
		Long: `Makes the graph anew from the statements of the data directory and puts it in
the old one's place. Listings come back with the next census run.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			applied, err := pipeline.RebuildGraph(cmd.Context(), data)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "applied %d, unchanged %d\n", applied.Applied, applied.Unchanged)
			return unwritable(err)
		},
	}
	dataFlag(cmd, &data)
	return cmd
}
