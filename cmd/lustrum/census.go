package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/registry"
	"github.com/lustrum-mcp/lustrum/dataset"
	"github.com/lustrum-mcp/lustrum/pipeline"
	"github.com/spf13/cobra"
)

func censusCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "census", Short: "Take a census, or prove one", Args: cobra.NoArgs, RunE: needsSubcommand}
	cmd.AddCommand(censusRunCommand(), censusServeCommand(), reproduceCommand())
	return cmd
}

// needsSubcommand is the answer to a group of commands called alone.
func needsSubcommand(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	return fmt.Errorf("%s needs one of: %s", cmd.CommandPath(), strings.Join(names, ", "))
}

// censusFlags are those of a run, whether now or on a schedule.
type censusFlags struct {
	c pipeline.Config
	n network
}

func (f *censusFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.c.Registry, "registry", "", "base `URL` of the MCP Registry")
	flags.StringArrayVar(&f.c.Namespaces, "namespace", nil, "publisher in reverse-DNS order, such as io.github.example (repeatable)")
	flags.BoolVar(&f.c.All, "all", false, "the whole registry")
	flags.StringVar(&f.c.Out, "out", "census", "`folder` to publish to; OUT/current is the newest release")
	flags.StringVar(&f.c.Audience, "audience", pipeline.Public, "public: hold back what would be a map for an attacker; owner: hold back nothing, not for publication")
	flags.StringVar(&f.c.Operator, "operator", "unnamed", "`label` of who measures from where, signed into every statement")
	flags.Float64Var(&f.c.PerHost, "rate", 1, "requests per second and host; 0 for no cap, on hosts of your own only")
	flags.IntVar(&f.c.Concurrency, "concurrency", 16, "endpoints checked at once; one at a time on a host")
	flags.DurationVar(&f.c.Deadline, "deadline", 3*time.Minute, "time limit of one endpoint")
	dataFlag(cmd, &f.c.Data)
	f.n.flags(cmd)
}

// config completes the configuration from the flags.
func (f *censusFlags) config(cmd *cobra.Command) (pipeline.Config, error) {
	roots, err := f.n.roots()
	c := f.c
	c.Resolve, c.Roots, c.Contact = f.n.resolve, roots, f.n.contact
	c.Version, c.Commit, c.Progress = version, commit(), cmd.ErrOrStderr()
	return c, err
}

func censusRunCommand() *cobra.Command {
	var (
		f    censusFlags
		list bool
	)
	cmd := &cobra.Command{
		Use:   "run",
		Short: "List a slice of a registry, check its servers and publish an edition",
		Long: `Lists the servers of one or more namespaces, checks each remote endpoint once,
without credentials and without calling a tool, signs what was seen, applies
it to the graph and publishes an edition to OUT/current.

A run that was killed is finished by the same command. A run of an edition
that is complete checks nothing and publishes the same bytes.`,
		Example: `  lustrum census run --registry https://registry.example --namespace io.github.example --out census --contact https://example.com/census
  lustrum census run --registry http://127.0.0.1:8080 --namespace ai.smithery --list`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.config(cmd)
			if err != nil {
				return err
			}
			if list {
				s, slice, err := pipeline.List(cmd.Context(), c)
				if err != nil {
					return err
				}
				return printSlice(cmd.OutOrStdout(), s, slice)
			}
			s, err := pipeline.Run(cmd.Context(), c)
			if err != nil {
				return err
			}
			return printSummary(cmd.OutOrStdout(), s)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.c.Edition, "edition", "", "`date` of the edition, YYYY-MM-DD (default today, UTC)")
	cmd.Flags().BoolVar(&list, "list", false, "only list what would be checked and what is left out; contact the registry alone")
	return cmd
}

func censusServeCommand() *cobra.Command {
	var (
		f        censusFlags
		schedule string
	)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Take a census whenever one is due",
		Long: `Runs a census when a moment of the schedule has passed since the last run, at
once if one was missed, and then at each moment. Each run is the edition of
its day. Ends with Ctrl-C.`,
		Example: `  lustrum census serve --schedule 'CRON_TZ=Europe/Berlin 0 3 * * 1' --registry https://registry.example --namespace io.github.example --contact https://example.com/census`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.config(cmd)
			if err != nil {
				return err
			}
			run := func(ctx context.Context) error {
				s, err := pipeline.Run(ctx, c)
				if err != nil {
					return err
				}
				return printSummary(cmd.OutOrStdout(), s)
			}
			report := func(err error) { fmt.Fprintln(cmd.ErrOrStderr(), "lustrum: this run failed:", oneLine(err.Error())) }
			return pipeline.Serve(cmd.Context(), schedule, pipeline.SystemClock{}, c.Data, run, report)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&schedule, "schedule", "", "cron `expression`, such as \"0 3 * * 1\"; UTC unless CRON_TZ= stands before it")
	return cmd
}

// printSlice prints what a run would check, a line each, then the counts.
func printSlice(w io.Writer, s *pipeline.Summary, slice *registry.Slice) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range slice.Remotes {
		what := "check"
		if r.Reason != "" {
			what = "leave out: " + r.Why()
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", oneLine(r.Name), oneLine(r.Version), oneLine(r.URL), oneLine(what))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	return printListing(w, s)
}

func printListing(w io.Writer, s *pipeline.Summary) error {
	fmt.Fprintf(w, "\n%d entries, %s to check\n", s.Entries, plural(s.Endpoints, "endpoint"))
	for _, reason := range slices.Sorted(maps.Keys(s.LeftOut)) {
		fmt.Fprintf(w, "%6d left out: %s\n", s.LeftOut[reason], oneLine(string(reason)))
	}
	for _, note := range s.Notes {
		fmt.Fprintln(w, "note:", oneLine(note))
	}
	return nil
}

func printSummary(w io.Writer, s *pipeline.Summary) error {
	if err := printListing(w, s); err != nil {
		return err
	}
	for _, state := range slices.Sorted(maps.Keys(s.Outcomes)) {
		fmt.Fprintf(w, "%6d %s\n", s.Outcomes[state], state)
	}
	for _, warning := range s.Warnings {
		fmt.Fprintln(w, "warning:", oneLine(warning))
	}
	fmt.Fprintf(w, "graph: applied %d, unchanged %d\n", s.Graph.Applied, s.Graph.Unchanged)
	state := "published"
	if !s.Changed {
		state = "unchanged"
	}
	_, err := fmt.Fprintf(w, "edition %s: checked %d, already checked %d, in the edition %d, not in the edition %d, policy violations %d\n%s %s\n",
		s.Edition, s.Checked, s.Known, s.InEdition, s.NotIn, s.Violations, state, s.Release)
	return err
}

func reproduceCommand() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "reproduce DIR",
		Short: "Verify a published edition and compute its figures again",
		Long: `Verifies the edition's signature and every file in it, runs each figure's SQL
again over the Parquet tables and compares the results byte for byte.
Exits 2 when anything differs.`,
		Example: "  lustrum census reproduce census/current --key lustrum.pub",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := dataset.ReproduceOptions{}
			if key != "" {
				pem, err := os.ReadFile(key)
				if err != nil {
					return fmt.Errorf("read --key: %w", err)
				}
				o.Key = pem
			}
			r, err := dataset.Reproduce(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			if err := printReproduction(cmd.OutOrStdout(), r); err != nil {
				return err
			}
			if r.Different() {
				return errFound
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "PEM `file` of the public key that must have signed; without it the key in the folder is used, which proves that the edition is whole but not whose it is")
	return cmd
}

// unwritable keeps a full or closed standard output from looking like
// success.
func unwritable(errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}
