package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/lustrum-mcp/lustrum/internal/near"
)

const maxConfig = 1 << 20 // bytes

// configure fills in flags that were not given: from LUSTRUM_*, then from the
// configuration file. A key that no command knows is an error.
func configure(cmd *cobra.Command, _ []string) error {
	file, err := cmd.Flags().GetString("config")
	if err != nil {
		return err
	}
	if file == "" {
		file = os.Getenv("LUSTRUM_CONFIG")
	}
	known := knownFlags(cmd.Root())
	if err := checkEnvironment(os.Environ(), known); err != nil {
		return err
	}
	values, err := readConfig(file, known)
	if err != nil {
		return err
	}
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "config" || f.Name == "help" {
			return
		}
		if value, ok := os.LookupEnv(variable(f.Name)); ok {
			failed = errors.Join(failed, set(cmd, f.Name, strings.Split(value, "\n"), variable(f.Name)))
		} else if value, ok := values[f.Name]; ok {
			failed = errors.Join(failed, set(cmd, f.Name, value, file))
		}
	})
	return failed
}

// variable is the environment's name of a flag.
func variable(flag string) string {
	return "LUSTRUM_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// checkEnvironment refuses LUSTRUM_ variables that no flag is called by: a
// misspelt one would be left out without a word. LUSTRUM_TEST_ is the tests'.
func checkEnvironment(environ, known []string) error {
	var names []string
	for _, flag := range known {
		names = append(names, variable(flag))
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "LUSTRUM_") || strings.HasPrefix(name, "LUSTRUM_TEST_") || slices.Contains(names, name) {
			continue
		}
		return fmt.Errorf("unknown variable %s in the environment%s", name, suggest(name, names))
	}
	return nil
}

func set(cmd *cobra.Command, name string, values []string, from string) error {
	for _, v := range values {
		if err := cmd.Flags().Set(name, v); err != nil {
			return fmt.Errorf("%s from %s: %w", name, from, err)
		}
	}
	return nil
}

// readConfig reads a flat YAML mapping from flag names to a value or a list.
func readConfig(file string, known []string) (map[string][]string, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w: name another file with --config", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	if len(raw) > maxConfig {
		return nil, fmt.Errorf("the configuration %q is over 1 MiB", file)
	}
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(raw)).Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("configuration %q: %w", file, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: the configuration is a mapping from flag names to values", filepath.Base(file), top.Line)
	}
	values := map[string][]string{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if !slices.Contains(known, key.Value) {
			return nil, fmt.Errorf("%s:%d: unknown key %q%s", filepath.Base(file), key.Line, key.Value, suggest(key.Value, known))
		}
		switch value.Kind {
		case yaml.ScalarNode:
			values[key.Value] = []string{value.Value}
		case yaml.SequenceNode:
			for _, v := range value.Content {
				if v.Kind != yaml.ScalarNode {
					return nil, fmt.Errorf("%s:%d: %q takes plain values", filepath.Base(file), v.Line, key.Value)
				}
				values[key.Value] = append(values[key.Value], v.Value)
			}
		default:
			return nil, fmt.Errorf("%s:%d: %q takes a value or a list of values", filepath.Base(file), value.Line, key.Value)
		}
	}
	return values, nil
}

// knownFlags lists the flags of every command.
func knownFlags(root *cobra.Command) []string {
	var out []string
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { out = append(out, f.Name) })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	slices.Sort(out)
	return slices.Compact(out)
}

// suggest names the nearest known word, if one is near.
func suggest(word string, known []string) string {
	best := near.Word(word, known)
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", best)
}
