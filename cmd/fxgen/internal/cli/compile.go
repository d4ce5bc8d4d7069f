package cli

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/capture"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/internal/effects"
)

const compileHelp = `compile says what memory a Go function reads and writes before and while it
computes, and what keeps its calls from being replayed: the list that guards of a
compiled function are made of. It looks at the code alone and runs nothing.

A SOURCE is ./pkg#Func or ./pkg#Type.Method; ./pkg#Type is the method Forward.`

// compileCommand is about functions whose calls are replayed.
func compileCommand(a *app) *cobra.Command {
	var explain, asJSON bool
	c := &cobra.Command{Use: "compile -explain [flags] SOURCE", Short: "Tell what a Go function reads and writes, and what keeps its calls from being replayed", Long: compileHelp,
		Args: exactly(1, "one SOURCE")}
	c.Flags().BoolVar(&explain, "explain", false, "print reads, writes and breaks with their lines")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	c.RunE = func(c *cobra.Command, args []string) error {
		if !explain {
			return usagef("compile needs -explain")
		}
		s, err := effectsOf(a, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			e := json.NewEncoder(a.stdout)
			e.SetIndent("", "  ")
			return e.Encode(s)
		}
		return s.Explain(a.stdout)
	}
	return c
}

// effectsOf analyses the function that a SOURCE argument names.
func effectsOf(a *app, arg string) (*effects.Summary, error) {
	pkg, name, ok := strings.Cut(arg, "#")
	if !ok {
		return nil, bad(arg+" names no Go function", "write ./pkg#Func or ./pkg#Type.Method")
	}
	if pkg == "" {
		pkg = "."
	}
	dir, remove, err := proc.TempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	defer a.busy("reading " + name)()
	p, err := effects.Open(a.ctx, pkg, capture.GoEnv(dir))
	if err != nil {
		return nil, err
	}
	fn, err := p.Function(name)
	if err != nil {
		return nil, err
	}
	return p.Summary(fn), nil
}
