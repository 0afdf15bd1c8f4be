package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/lustrum-mcp/lustrum/crawler/registry"
	"github.com/lustrum-mcp/lustrum/internal/lab"
	"github.com/lustrum-mcp/lustrum/pipeline"
	"github.com/spf13/cobra"
)

const demoRegistry = "registry.atlas.example"

func demoCommand() *cobra.Command {
	var (
		out, edition, addr string
		serve              bool
	)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Take a census of a score of servers on this machine",
		Long: `Starts an embedded registry and a score of MCP servers, good and bad, on
loopback, runs the whole pipeline over them and publishes a site. It needs no
network and no configuration.`,
		Example: "  lustrum demo --out demo --serve",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := demo(cmd.Context(), cmd, out, edition)
			if err != nil {
				return err
			}
			if err := printSummary(cmd.OutOrStdout(), s); err != nil {
				return err
			}
			current := filepath.Join(out, "site", "current")
			fmt.Fprintf(cmd.OutOrStdout(), "\nOpen %s\nor run: lustrum site serve %s\nProve it: lustrum census reproduce %s\n",
				filepath.Join(current, "index.html"), current, current)
			if !serve {
				return nil
			}
			return serveSite(cmd.Context(), cmd.OutOrStdout(), current, addr)
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "demo", "`folder` for state and site")
	f.StringVar(&edition, "edition", "", "`date` of the edition, YYYY-MM-DD (default today, UTC)")
	f.BoolVar(&serve, "serve", false, "serve the site when it is built")
	f.StringVar(&addr, "addr", "127.0.0.1:8080", "`address` to serve on")
	return cmd
}

func demo(ctx context.Context, cmd *cobra.Command, out, edition string) (*pipeline.Summary, error) {
	servers := lab.Standard()
	// The registry is one more host of the lab; it lists what the lab runs.
	var entries http.Handler
	servers = append(servers, lab.Server{Host: demoRegistry, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entries.ServeHTTP(w, r)
	})})
	l, err := lab.Start(servers)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	entries = registry.NewHandler(l.Entries())
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(l.Authority())
	return pipeline.Run(ctx, pipeline.Config{
		Registry:   "https://" + demoRegistry,
		Namespaces: lab.Namespaces,
		Out:        filepath.Join(out, "site"),
		Data:       filepath.Join(out, "data"),
		Edition:    edition,
		Audience:   pipeline.Owner,
		Operator:   "demo on this machine",
		Deadline:   20 * time.Second,
		Resolve:    l.Resolve(),
		Roots:      roots,
		Version:    version,
		Commit:     commit(),
		Progress:   cmd.ErrOrStderr(),
	})
}

func siteCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "site", Short: "Serve a published site", Args: cobra.NoArgs, RunE: needsSubcommand}
	var addr string
	serve := &cobra.Command{
		Use:     "serve DIR",
		Short:   "Serve a published folder on this machine",
		Example: "  lustrum site serve census/current",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return serveSite(cmd.Context(), cmd.OutOrStdout(), args[0], addr)
		},
	}
	serve.Flags().StringVar(&addr, "addr", "127.0.0.1:8080", "`address` to serve on")
	cmd.AddCommand(serve)
	return cmd
}
