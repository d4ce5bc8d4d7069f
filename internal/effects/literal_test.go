package effects

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A table of a function literal has what it has captured, and the lines where that may be assigned later.
func TestLiterals(t *testing.T) {
	p, err := Open(context.Background(), "./testdata/closures", os.Environ())
	require.NoError(t, err)
	of := func(name string) *Summary {
		fn, err := p.Root(p.Package.PkgPath, name)
		require.NoError(t, err, name)
		return p.Summary(fn)
	}
	captured := func(s *Summary) (list []string) {
		for _, g := range s.Globals {
			if g.Captured {
				list = append(list, g.Var.Name()+" "+g.Access.String())
			}
		}
		return list
	}
	s := of("Captures")
	path := p.Package.PkgPath + "."
	require.Equal(t, path+"Captures", s.Func)
	require.Equal(t, []string{"c load", "m load", "verbose load"}, captured(s))
	require.Equal(t, path+"Captures.c", s.Globals[0].Name)
	require.Equal(t, []Field{
		{path + "Config", "High", "float64", Load, "closures.go:21"},
		{path + "Config", "Low", "float64", Load, "closures.go:21"},
		{path + "Net", "W", "*" + tensorPath + ".Tensor", Load, "closures.go:26"},
	}, s.Fields)
	require.Len(t, s.Opaque, 1)
	require.Equal(t, path+"Captures.verbose == true", s.Opaque[0].text())

	for name, line := range map[string]string{"Counts": "closures.go:33", "Inner": "closures.go:41", "Sibling": "closures.go:48", "Elements": "closures.go:71", "After": "closures.go:95"} {
		s := of(name)
		require.Len(t, s.Opaque, 1, name)
		require.Equal(t, line, s.Opaque[0].Line, name)
		require.Contains(t, s.Opaque[0].What, "an assignment of ", name)
	}
	for _, name := range []string{"Before", "Net.Bound", "Variable"} {
		require.Empty(t, of(name).Opaque, name)
	}
	require.Equal(t, "(*"+path+"Net).Bound", of("Net.Bound").Func)
	require.Equal(t, path+"None", of("None").Func)
	require.Equal(t, path+"Both", of("Both").Func)

	for name, why := range map[string]string{
		"Loops":   "Loops returns a function that is no literal of its own, at closures.go:58",
		"Nothing": "Nothing returns no function literal",
		"Foreign": "Foreign returns a function that is no literal of its own",
		"Made":    "the variable Made is not declared with a function literal",
	} {
		_, err := p.Root(p.Package.PkgPath, name)
		require.ErrorContains(t, err, why)
	}
}
