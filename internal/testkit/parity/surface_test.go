package parity

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// entry is something that torch.fx offers for editing: where it is here, or why Go
// needs none.
type entry struct {
	fx   string
	in   []any  // functions
	how  string // notes on them
	none string
}

// maxEntriesNone bounds the entries that Go needs none of.
const maxEntriesNone = 10

// surfaces are the tables of the surface, by the class in torch.fx.
var surfaces = []struct {
	title   string
	entries []entry
}{
	{"Node", nodeSurface},
	{"Graph", graphSurface},
}

func surfacePage(b *strings.Builder) {
	for _, s := range surfaces {
		fmt.Fprintf(b, "\n## The surface of %s\n\n| torch.fx | gofx | |\n|---|---|---|\n", s.title)
		for _, e := range s.entries {
			if e.none != "" {
				fmt.Fprintf(b, "| %s | none | %s |\n", e.fx, cell(e.none))
				continue
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", e.fx, names(e.in), cell(e.how))
		}
	}
}

func TestSurface(t *testing.T) {
	none := 0
	for _, s := range surfaces {
		for _, e := range s.entries {
			require.Equal(t, len(e.in) == 0, e.none != "", "%s is somewhere, or there is none", e.fx)
			if e.none != "" {
				none++
			}
		}
	}
	require.LessOrEqual(t, none, maxEntriesNone)
}
