package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/lustrum-mcp/lustrum/attest"
	"github.com/lustrum-mcp/lustrum/attest/verify"
	"github.com/spf13/cobra"
)

func verifyCommand() *cobra.Command {
	var (
		o      verify.Options
		keys   []string
		output string
	)
	cmd := &cobra.Command{
		Use:   "verify FILE|DIR",
		Short: "Verify a statement, a bundle or a published edition",
		Long: `Verifies, offline and in this order: the signature and whose it is, the
statement's type, its subject against the endpoint, that no field is unknown,
its counts, score, grade, caps, coverage and bounds against its own verdicts,
and its times. FILE is a statement with its .sigstore.json beside it, or a
bundle alone; DIR is the folder of an edition.

Without --key the signature is "not asked", and nothing is verified unless
--accept-unsigned says so. Exits 2 when it is not verified.`,
		Example: `  lustrum verify --key census/current/keys/lustrum.pub census/current/statements/ab/ab….json
  lustrum verify --key lustrum.pub --endpoint https://mcp.example.com/mcp --max-age 720h card.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Now = time.Now()
			for _, path := range keys {
				key, err := verify.LoadKey(path)
				if err != nil {
					return err
				}
				o.Keys = append(o.Keys, key)
			}
			r, err := verifyPath(cmd, args[0], o)
			if err != nil {
				return err
			}
			switch output {
			case "text":
				err = printVerification(cmd.OutOrStdout(), r)
			case "json":
				err = printJSON(cmd.OutOrStdout(), r)
			default:
				return fmt.Errorf("output %q is neither text nor json", output)
			}
			if err != nil {
				return unwritable(err)
			}
			if !r.Verified {
				return errFound
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&keys, "key", nil, "PEM `file` of a public key that may have signed (repeatable)")
	f.BoolVar(&o.AcceptUnsigned, "accept-unsigned", false, "verify everything but whose it is")
	f.StringVar(&o.Endpoint, "endpoint", "", "`URL` that the statement must be about")
	f.DurationVar(&o.MaxAge, "max-age", 0, "refuse a statement that is older, such as 720h")
	f.Float64Var(&o.MinScore, "min-score", 0, "refuse a lower score")
	f.StringArrayVar(&o.Require, "require", nil, "`check` that must have passed (repeatable)")
	f.StringVar(&output, "output", "text", "text or json")
	return cmd
}

// verifyPath tells a file from the folder of an edition. The statements of a
// published edition stand two folders above it.
func verifyPath(cmd *cobra.Command, path string, o verify.Options) (*verify.Result, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("verify: %w: name a statement, its bundle, or the folder of an edition", err)
	}
	if !info.IsDir() {
		return verify.File(path, o)
	}
	root := filepath.Dir(filepath.Dir(filepath.Clean(path)))
	if _, err := os.Stat(filepath.Join(path, attest.StatementsDir)); err != nil {
		if _, err := os.Stat(filepath.Join(root, attest.StatementsDir)); err == nil {
			o.Statements = root
		}
	}
	return verify.Edition(cmd.Context(), path, o)
}

func printVerification(w io.Writer, r *verify.Result) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range r.Criteria {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", c.Outcome, c.Name, oneLine(c.Detail))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, part := range r.Parts {
		for _, c := range part.Failed() {
			fmt.Fprintf(w, "%s: %s: %s\n", oneLine(part.File), c.Name, oneLine(c.Detail))
		}
	}
	word := "verified"
	if !r.Verified {
		word = "NOT VERIFIED"
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", word, oneLine(r.File))
	return err
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
