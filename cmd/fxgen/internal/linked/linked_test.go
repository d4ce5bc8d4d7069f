package linked

import (
	"bytes"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/gomod"
	"github.com/gofx-dev/gofx/internal/licences"
)

// What is linked comes from the program; what nobody knows is not claimed.
func TestModulesAreThoseOfTheProgram(t *testing.T) {
	cobra, ok := licences.Of("github.com/spf13/cobra")
	require.True(t, ok)
	list := Modules(&debug.BuildInfo{Deps: []*debug.Module{
		{Path: gomod.Path, Version: "v0.1.0"},
		{Path: cobra.Path, Version: "v1.99.0"},
		{Path: "github.com/spf13/pflag", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v0.0.1"}},
		{Path: "golang.org/x/sync", Version: "v0.0.0", Replace: &debug.Module{Path: "../sync"}},
	}})
	var fxgen, rest []string
	for _, l := range list {
		if l.Program == "fxgen" {
			fxgen = append(fxgen, l.Module+" "+l.Licence)
		} else {
			rest = append(rest, l.Module)
		}
	}
	require.Equal(t, []string{gomod.Path + " Apache-2.0", "std BSD-3-Clause", "github.com/spf13/cobra Apache-2.0", "example.com/fork NOASSERTION", "golang.org/x/sync => ../sync NOASSERTION"}, fxgen)
	require.Contains(t, rest, "github.com/goccy/go-graphviz")
	require.Equal(t, cobra.Version, list[2].OfVersion, "the text is of another version")
	var out bytes.Buffer
	require.NoError(t, Print(&out, list[2:4]))
	require.Equal(t, "fxgen  github.com/spf13/cobra  v1.99.0  Apache-2.0  (as of "+cobra.Version+")\nfxgen  example.com/fork        v0.0.1   NOASSERTION\n", out.String())
	out.Reset()
	require.NoError(t, PrintTexts(&out, list[2:4]))
	require.Contains(t, out.String(), "==> github.com/spf13/cobra v1.99.0: LICENSE.txt <==\n\n")
	require.Contains(t, out.String(), "==> example.com/fork v0.0.1: no text is known <==")
	require.NotEmpty(t, Modules(nil), "a program without information")
}
