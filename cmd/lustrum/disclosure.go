package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lustrum-mcp/lustrum/pipeline"
	"github.com/spf13/cobra"
)

func disclosureCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "disclosure", Short: "See what editions hold back, for the operator alone", Args: cobra.NoArgs, RunE: needsSubcommand}
	var data string
	list := &cobra.Command{
		Use:   "list",
		Short: "List the endpoints that public editions hold back, and the rules that do",
		Long: `Lists, by edition, the endpoints whose verdicts would be a map for an attacker,
so that you can tell their owners. Keep the list to yourself: it is all that
an edition leaves out on purpose, without its cover.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			held, err := pipeline.ListHeld(data)
			if err != nil {
				return err
			}
			n := 0
			for _, edition := range slices.Sorted(maps.Keys(held)) {
				for _, h := range held[edition] {
					n++
					fmt.Fprintf(cmd.OutOrStdout(), "%s  %-12s %s\n", edition, strings.Join(h.Rules, ","), oneLine(h.Endpoint))
				}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d held back\n", n)
			return unwritable(err)
		},
	}
	dataFlag(list, &data)
	cmd.AddCommand(list)
	return cmd
}
