package main

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
)

// network holds the flags of every command that contacts something.
type network struct {
	resolve []string
	caFile  string
	contact string
}

func (n *network) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&n.resolve, "resolve", nil, "`host:port:address[:port]`: reach host there instead of asking DNS, as curl does (repeatable)")
	cmd.Flags().StringVar(&n.caFile, "ca-file", "", "PEM `file` of certificate authorities to trust besides the system's")
	cmd.Flags().StringVar(&n.contact, "contact", "", "`URL or address` of the operator, sent in the User-Agent")
}

// roots is nil for the system's own.
func (n *network) roots() (*x509.CertPool, error) {
	if n.caFile == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(n.caFile)
	if err != nil {
		return nil, fmt.Errorf("read --ca-file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--ca-file %q holds no certificate in PEM", n.caFile)
	}
	return pool, nil
}

func (n *network) userAgent() string {
	agent := "lustrum/" + version
	if n.contact != "" {
		agent += " (+" + n.contact + ")"
	}
	return agent
}

// defaultData is where state is kept without --data.
func defaultData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "lustrum")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "lustrum-data"
	}
	if runtime.GOOS == "windows" {
		return filepath.Join(home, "AppData", "Local", "lustrum")
	}
	return filepath.Join(home, ".local", "share", "lustrum")
}

func dataFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "data", defaultData(), "`folder` of private state: statements, evidence, graph, keys")
}
