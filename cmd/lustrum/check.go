package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
	"github.com/lustrum-mcp/lustrum/engine/check"
	"github.com/lustrum-mcp/lustrum/engine/report"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
	"github.com/lustrum-mcp/lustrum/pipeline"
	"github.com/spf13/cobra"
)

func checkCommand() *cobra.Command {
	var (
		n                         network
		transport, output, failOn string
		record                    string
		phases                    []string
		rate                      float64
		deadline                  time.Duration
	)
	cmd := &cobra.Command{
		Use:   "check URL",
		Short: "Check one MCP server without credentials and without calling a tool",
		Long: `Checks one endpoint under the phases net, discovery, handshake and catalog.
You named the host, so it may be on this machine or in a private network; what
it points at may not. Exits 2 when a check fails at or above --fail-on.`,
		Example: `  lustrum check https://mcp.example.com/mcp
  lustrum check http://127.0.0.1:3000/mcp --output json --fail-on critical`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			gate, err := parseSeverity(failOn)
			if err != nil {
				return err
			}
			if output != "text" && output != "json" {
				return fmt.Errorf("output %q is neither text nor json", output)
			}
			for _, phase := range phases {
				if !slices.Contains(check.AnonymousPhases, phase) {
					return fmt.Errorf("phase %q is none of %s%s", phase, strings.Join(check.AnonymousPhases, ", "), suggest(phase, check.AnonymousPhases))
				}
			}
			endpoint, err := target.New(transport, args[0])
			if err != nil {
				return fmt.Errorf("%q: %w: give a URL such as https://mcp.example.com/mcp", target.Mask(args[0]), err)
			}
			roots, err := n.roots()
			if err != nil {
				return err
			}
			door, err := wire.NewDoor(wire.Options{UserAgent: n.userAgent(), PerHost: rate, Resolve: n.resolve, RootCAs: roots})
			if err != nil {
				return err
			}
			line, err := door.Open(endpoint.URL, true)
			if err != nil {
				return err
			}
			defer line.Close()
			r := check.Run(cmd.Context(), endpoint, check.Options{
				Line: line, Phases: phases, Named: true, Deadline: deadline,
				Client:     mcp.Implementation{Name: "lustrum", Version: version},
				Instrument: check.Instrument{Name: "lustrum", Version: version, Commit: commit(), Method: pipeline.Method},
			})
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if record != "" {
				if err := writeRecording(record, r.Exchanges); err != nil {
					return err
				}
			}
			if err := printReport(cmd.OutOrStdout(), r, output); err != nil {
				return unwritable(err)
			}
			if failsAt(r, gate) {
				return errFound
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&transport, "transport", target.StreamableHTTP, "streamable-http or sse")
	f.StringVar(&output, "output", "text", "text or json")
	f.StringVar(&failOn, "fail-on", "major", "lowest severity that makes the exit code 2: minor, major, critical or none")
	f.StringVar(&record, "record", "", "`file` to write the recorded exchanges to (NDJSON, zstd)")
	f.StringSliceVar(&phases, "phases", nil, "run these phases only: net, discovery, handshake, catalog")
	f.Float64Var(&rate, "rate", 0, "requests per second; 0 for no cap")
	f.DurationVar(&deadline, "deadline", check.DefaultDeadline, "time limit of the whole check")
	n.flags(cmd)
	return cmd
}

func printReport(w io.Writer, r *check.Report, output string) error {
	if output == "json" {
		return report.JSON(w, r)
	}
	return report.Text(w, r, report.Options{Color: colour(w)})
}

// colour is for terminals that want it (https://no-color.org).
func colour(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func writeRecording(path string, exchanges []wire.Exchange) error {
	var b bytes.Buffer
	if err := wire.WriteRecording(&b, exchanges); err != nil {
		return err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write --record: %w", err)
	}
	return nil
}

var severities = map[rubric.Severity]int{rubric.Minor: 1, rubric.Major: 2, rubric.Critical: 3}

// parseSeverity reads --fail-on; none gates on nothing.
func parseSeverity(s string) (int, error) {
	if s == "none" {
		return len(severities) + 1, nil
	}
	gate, ok := severities[rubric.Severity(s)]
	if !ok {
		return 0, fmt.Errorf("--fail-on %q is none of minor, major, critical and none", s)
	}
	return gate, nil
}

func failsAt(r *check.Report, gate int) bool {
	for _, f := range r.Findings {
		if f.Status == rubric.Fail && severities[f.Severity] >= gate {
			return true
		}
	}
	return false
}

func explainCommand() *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:     "explain CHECK",
		Short:   "Say what a check looks at, why it matters and how to fix it",
		Example: "  lustrum explain net.tls\n  lustrum explain --list",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if list || len(args) == 0 {
				for _, m := range check.Catalogue() {
					fmt.Fprintf(cmd.OutOrStdout(), "%-32s %s\n", m.ID, m.Title)
				}
				if len(args) == 0 && !list {
					return errors.New("explain needs the id of a check: they are listed above")
				}
				return nil
			}
			m, ok := check.Lookup(args[0])
			if !ok {
				var ids []string
				for _, m := range check.Catalogue() {
					ids = append(ids, m.ID)
				}
				return fmt.Errorf("no check is called %q%s (lustrum explain --list shows them all)", args[0], suggest(args[0], ids))
			}
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "%s: %s\n\n%s\n\nWhy: %s\n", m.ID, m.Title, m.What, m.Why)
			for _, s := range []check.Status{rubric.Pass, rubric.Warn, rubric.Fail, rubric.Skip, rubric.Info} {
				if text := m.Outcomes[s]; text != "" {
					fmt.Fprintf(w, "  %-5s %s\n", s, text)
				}
			}
			if m.Advice != "" {
				fmt.Fprintf(w, "\nWhat to do: %s\n", m.Advice)
			}
			_, err := fmt.Fprintf(w, "\nApplies to: %s, over %s\nReference: %s\n", strings.Join(m.Revisions, ", "), strings.Join(m.Transports, ", "), m.Reference)
			return err
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list every check")
	return cmd
}
