package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/lustrum-mcp/lustrum/crawler/discover"
	"github.com/lustrum-mcp/lustrum/crawler/target"
	"github.com/lustrum-mcp/lustrum/crawler/wire"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

func discoverCommand() *cobra.Command {
	var (
		n           network
		files       []string
		rate        float64
		concurrency int
		output      string
		allPaths    bool
	)
	cmd := &cobra.Command{
		Use:   "discover --targets FILE",
		Short: "Find out which of the hosts you name speak MCP",
		Long: `Asks the hosts that you name, and no other, at the usual paths. An endpoint
counts when it answers initialize or server/discover. A targets file has one
host name, host:port or URL a line; ranges and wildcards are refused.`,
		Example: "  lustrum discover --targets hosts.txt --output json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return fmt.Errorf("output %q is neither text nor json", output)
			}
			if concurrency < 1 {
				return errors.New("--concurrency must be at least 1")
			}
			targets, err := readTargets(files)
			if err != nil {
				return err
			}
			roots, err := n.roots()
			if err != nil {
				return err
			}
			door, err := wire.NewDoor(wire.Options{UserAgent: n.userAgent(), Overall: rate, Resolve: n.resolve, RootCAs: roots})
			if err != nil {
				return err
			}
			results, err := discoverAll(cmd.Context(), door, targets, concurrency, allPaths)
			if err != nil {
				return err
			}
			if output == "json" {
				return unwritable(printJSON(cmd.OutOrStdout(), results))
			}
			return unwritable(printDiscovery(cmd, results))
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&files, "targets", nil, "`file` of targets (repeatable)")
	f.Float64Var(&rate, "rate", 2, "requests per second over the whole run; 0 for no cap")
	f.IntVar(&concurrency, "concurrency", 4, "targets asked at once")
	f.BoolVar(&allPaths, "all-paths", false, "go on after the first proof on a target")
	f.StringVar(&output, "output", "text", "text or json")
	n.flags(cmd)
	return cmd
}

// readTargets reads every file before anything is contacted.
func readTargets(files []string) ([]target.Target, error) {
	if len(files) == 0 {
		return nil, errors.New("name what to ask: give --targets FILE")
	}
	var all []target.Target
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read the targets: %w", err)
		}
		some, err := target.ReadTargets(path, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, errors.New("the targets files name no host")
	}
	return all, nil
}

func discoverAll(ctx context.Context, door *wire.Door, targets []target.Target, concurrency int, allPaths bool) ([]*discover.Result, error) {
	results := make([]*discover.Result, len(targets))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for i, t := range targets {
		group.Go(func() error {
			release, err := door.Acquire(ctx, t.Host)
			if err != nil {
				return err
			}
			defer release()
			line, err := door.Open(t.Origin(), true)
			if err != nil {
				return err
			}
			defer line.Close()
			r, err := discover.Probe(ctx, discover.Options{Target: t, Line: line, AllPaths: allPaths, Name: "lustrum", Version: version})
			mu.Lock()
			defer mu.Unlock()
			results[i] = r
			return err
		})
	}
	return results, group.Wait()
}

func printDiscovery(cmd *cobra.Command, results []*discover.Result) error {
	w := cmd.OutOrStdout()
	found := 0
	for _, r := range results {
		for _, e := range r.Endpoints {
			found++
			fmt.Fprintf(w, "%-40s %-16s %-21s %s (%s)\n", oneLine(e.URL), e.Transport, e.Era, oneLine(e.Server), e.Evidence)
		}
		for _, p := range r.Protected {
			fmt.Fprintf(w, "%-40s asks for credentials (%d, %s)\n", oneLine(p.URL), p.Status, p.Evidence)
		}
		if len(r.Endpoints) == 0 && len(r.Protected) == 0 {
			why := "no MCP endpoint"
			if r.Error != "" {
				why += ": " + oneLine(r.Error)
			}
			fmt.Fprintf(w, "%-40s %s\n", oneLine(r.Target), why)
		}
		for _, host := range r.Blocked {
			fmt.Fprintf(w, "%-40s points at %s, which was not named and not contacted\n", oneLine(r.Target), oneLine(host))
		}
	}
	_, err := fmt.Fprintf(w, "%s on %s\n", plural(found, "endpoint"), plural(len(results), "target"))
	return err
}
