package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/lustrum-mcp/lustrum/graph"
	"github.com/lustrum-mcp/lustrum/policies"
	"github.com/spf13/cobra"
)

func policyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "policy", Short: "Gate on what the graph shows", Args: cobra.NoArgs, RunE: needsSubcommand}
	cmd.AddCommand(policyListCommand(), policyTestCommand(), policyCheckCommand())
	return cmd
}

func policyFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "policy", "", "`folder` of policy files (YAML), besides and before the built-in ones")
}

func policyListCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the policies",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := policies.Load(dir)
			if err != nil {
				return err
			}
			for _, p := range all {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-28s %-8s %s\n", p.ID, p.Severity, oneLine(p.Title)); err != nil {
					return unwritable(err)
				}
			}
			return nil
		},
	}
	policyFlag(cmd, &dir)
	return cmd
}

func policyTestCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Run the examples that every policy carries",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := policies.Load(dir)
			if err != nil {
				return err
			}
			failed := 0
			for _, p := range all {
				word := "ok"
				if err := policies.Test(cmd.Context(), p); err != nil {
					failed++
					word = "FAILED: " + oneLine(err.Error())
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-28s %d examples %s\n", p.ID, len(p.Examples), word); err != nil {
					return unwritable(err)
				}
			}
			if failed > 0 {
				return errFound
			}
			return nil
		},
	}
	policyFlag(cmd, &dir)
	return cmd
}

func policyCheckCommand() *cobra.Command {
	var (
		data, dir, failOn, output string
	)
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Hold the graph against every policy",
		Long:    "Holds the graph against every policy. Exits 2 on a violation at or above --fail-on.",
		Example: "  lustrum policy check --data demo/data --fail-on critical",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := parseSeverity(failOn); err != nil {
				return err
			}
			if output != "text" && output != "json" {
				return fmt.Errorf("output %q is neither text nor json", output)
			}
			all, err := policies.Load(dir)
			if err != nil {
				return err
			}
			return withGraph(cmd.Context(), data, func(g *graph.Graph) error {
				violations := []policies.Violation{}
				gated := false
				for _, p := range all {
					r, err := p.CheckAt(cmd.Context(), g, time.Now())
					if err != nil {
						return fmt.Errorf("policy %s: %w", p.ID, err)
					}
					violations = append(violations, r.Violations...)
					for _, v := range r.Violations {
						gated = gated || (failOn != "none" && policies.AtOrAbove(v.Severity, failOn))
					}
					for _, warning := range r.Warnings {
						fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s: %s\n", p.ID, oneLine(warning))
					}
					if r.Undecided > 0 {
						fmt.Fprintf(cmd.ErrOrStderr(), "unknown: %s: %d paths could not be decided, because something they pass was not assessed\n", p.ID, r.Undecided)
					}
				}
				if output == "json" {
					err = printJSON(cmd.OutOrStdout(), violations)
				} else {
					err = printViolations(cmd, violations)
				}
				if err != nil {
					return unwritable(err)
				}
				if gated {
					return errFound
				}
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&failOn, "fail-on", "major", "lowest severity that makes the exit code 2: minor, major, critical or none")
	f.StringVar(&output, "output", "text", "text or json")
	policyFlag(cmd, &dir)
	dataFlag(cmd, &data)
	return cmd
}

func printViolations(cmd *cobra.Command, violations []policies.Violation) error {
	w := cmd.OutOrStdout()
	for _, v := range violations {
		fmt.Fprintf(w, "%-8s %s\n         %s\n         why: %s\n         remedy: %s\n", v.Severity, v.Policy, oneLine(v.Path), oneLine(v.Reason), oneLine(v.Remedy))
		if len(v.Evidence) > 0 {
			fmt.Fprintf(w, "         evidence: %s\n", strings.Join(v.Evidence, ", "))
		}
	}
	_, err := fmt.Fprintln(w, plural(len(violations), "violation"))
	return err
}
