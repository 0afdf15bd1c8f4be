package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/lustrum-mcp/lustrum/dataset/figures"
	"github.com/spf13/cobra"
)

// version is set by the linker for a release.
var version = "0.1.0-dev"

// errFound is the error of a command that did its work and found what it gates
// on: exit 2, and nothing more to say.
var errFound = errors.New("something was found")

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFound):
		return 2
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "lustrum: interrupted; what was done is kept, and the same command goes on from there")
		return 1
	}
	fmt.Fprintln(stderr, "lustrum:", oneLine(err.Error()))
	return 1
}

// oneLine makes an error safe for a terminal: it may quote a server.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case r < 0x20 || (r >= 0x7f && r < 0xa0) || (r >= 0x200b && r <= 0x200f) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2060 && r <= 0x206f) || r == 0xfeff:
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// plural counts things whose name takes an s.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "lustrum",
		Short: "Takes the census of MCP servers",
		Long: `lustrum takes the census of MCP servers: it lists a slice of an MCP Registry,
checks the remote servers in it without credentials and without calling a
tool, signs what it saw, and publishes scorecards, data and a site.

Exit codes: 0 done, nothing found; 1 could not do it; 2 done, and something
was found that the command gates on.

Every flag can also come from the environment (LUSTRUM_DATA for --data) or
from a file given with --config (YAML, one key a flag).`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: configure,
	}
	root.PersistentFlags().String("config", "", "configuration `file` (YAML); flags and LUSTRUM_* come before it")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: see '%s --help'", err, cmd.CommandPath())
	})
	root.AddCommand(demoCommand(), censusCommand(), checkCommand(), explainCommand(), discoverCommand(),
		verifyCommand(), graphCommand(), policyCommand(), disclosureCommand(), siteCommand(), versionCommand())
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and whether figures can be computed",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			engine := "figures: yes (DuckDB)"
			if !figures.Available {
				engine = "figures: no (built without cgo)"
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "lustrum %s, commit %s, %s\n", version, commit(), engine)
			return err
		},
	}
}

func commit() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return s.Value[:12]
			}
		}
	}
	return "unknown"
}
