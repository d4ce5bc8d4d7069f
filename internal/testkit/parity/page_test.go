package parity

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/torchfx.md")

const pagePath = "../../../docs/torchfx.md"

func TestPageIsCurrent(t *testing.T) {
	want := page()
	if *update {
		require.NoError(t, os.WriteFile(pagePath, []byte(want), 0o666))
	}
	have, err := os.ReadFile(pagePath)
	require.NoError(t, err)
	require.True(t, want == string(have), "go test ./internal/testkit/parity -run Page -update")
}

// page is docs/torchfx.md.
func page() string {
	var b strings.Builder
	b.WriteString("# torch.fx and gofx\n\nWritten by `go test ./internal/testkit/parity -run Page -update` from the tables of internal/testkit/parity.\n" +
		"First come torch.fx's functions for editing graphs, each with its place in gofx. Then come the behaviours that torch.fx's tests check, each with the\n" +
		"outcome that a test of gofx requires: `go test ./internal/testkit/parity -run 'TestBehaviours/44$'` runs one of them. A test\n" +
		"empties the functions that the rows name, and the rows that rest on them must fail. The last table has the complaints of\n" +
		"torch.fx's users.\n")
	surfacePage(&b)
	tested, none, _ := count()
	fmt.Fprintf(&b, "\n## Behaviours\n\nOf %d behaviours %d have a test, %d have no use in Go.\n",
		behaviours[len(behaviours)-1].last, tested, none)
	for i, s := range table() {
		fmt.Fprintf(&b, "\n### %s\n\n| | input | outcome | rests on |\n|---|---|---|---|\n", behaviours[i].title)
		for _, r := range s.rows {
			if r.test == nil {
				fmt.Fprintf(&b, "| %s | %s | none: %s | |\n", r.id, cell(r.input), cell(r.none))
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.id, cell(r.input), cell(r.outcome), names(r.on))
		}
	}
	changesPage(&b)
	complaintsPage(&b)
	return b.String()
}

// cell is a text inside of a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// names lists functions for people.
func names(on []any) string {
	list := make([]string, len(on))
	for i, f := range on {
		list[i] = "`" + name(f) + "`"
	}
	return strings.Join(list, ", ")
}
