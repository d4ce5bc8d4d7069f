package main

import (
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/internal/testkit/zoo"
	"github.com/gofx-dev/gofx/models"
)

// zooPage lists the networks of package models with what each engine makes of them.
func zooPage() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# Networks that come with gofx

Written by `+"`go run ./internal/generators/docs`"+` from the table in internal/testkit/zoo. [models.md](models.md) is about networks that exporters write.

Package models has %d networks as ordinary Go code; `+"`fxgen models`"+` lists them, `+"`fxgen models -json`"+` with their inputs and outputs. PyTorch has computed in f64 what each makes of weights
and inputs that follow a formula, and every engine keeps to bounds around that: 16 times what PyTorch itself loses in f32. Engines run the same source.

A cell says how often a test holds that: on every *change*, or *nightly*. Numbers in brackets are notes.

`+"`fxgen run unet -engine gen`"+` runs a network as a column says, `+"`fxgen compare unet unet -engine eager -engine2 gen`"+` compares two of them value by value. These tests repeat a row:

    GOFX_NIGHTLY=1 go test ./cmd/fxgen -v -run 'TestFixturesInEveryEngine/^unet$'
    GOFX_NIGHTLY=1 go test ./lowering/gpu -v -run 'TestModelsEqualTheInterpreter/^unet$'
    GOFX_NIGHTLY=1 go test ./lowering/xla -v -run 'TestPluginModels/^unet$'

Without a network's name they repeat the table. On 2026-11-29, on two processors of an AMD EPYC with AVX-512 that had other work to do, the first took 32 minutes (module 9.8, gen 9.2, int8 3.5, lazy 2.2, plan 1.8, compile and eager 1.7,
interp 1.4), gpu on PoCL 59 and xla 12: no cell failed.

`, len(zoo.Rows))
	for _, e := range zoo.Engines {
		fmt.Fprintf(&b, "- **%s**: %s.\n", e.Name, e.Doc)
	}
	b.WriteString("\n| network | | parameters, M | GMAC | calls |")
	for _, e := range zoo.Engines {
		fmt.Fprintf(&b, " %s |", e.Name)
	}
	b.WriteString("\n|---|---|---|---|---|" + strings.Repeat("---|", len(zoo.Engines)) + "\n")
	var notes []string
	for _, r := range zoo.Rows {
		fmt.Fprintf(&b, "| %s | %s | %.2f | %.2f | %d |", r.Name, models.Lookup(r.Name).Doc, float64(r.Parameters)/1e6, float64(r.MACs)/1e9, r.Calls)
		for i := range zoo.Engines {
			e := &zoo.Engines[i]
			cell := string(e.Tier(r))
			if why := e.Not[r.Name]; why != "" {
				notes = append(notes, fmt.Sprintf("%s, %s: %s.", r.Name, e.Name, why))
				cell = fmt.Sprintf("[%d]", len(notes))
			} else if within := e.Within(r.Name); within > 0 {
				cell += fmt.Sprintf(", %.0f %%", 100*within)
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nA percentage is how far the results may be from the reference, as the L2 norm of the difference.\n\n")
	for i, n := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, n)
	}
	return []byte(b.String())
}
