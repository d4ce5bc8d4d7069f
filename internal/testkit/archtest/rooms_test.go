package archtest

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// outside are folders whose packages stand in no row: programs and tests, which
// may import anything and which nothing of the product imports.
var outside = []string{"cmd", "examples", "bench", "internal/testkit", "internal/generators", "codegen/internal"}

// onDisk returns the folders with packages of the product.
func onDisk(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	for _, s := range handWritten(t) {
		room := path.Dir(s.path)
		if !strings.HasSuffix(s.path, "_test.go") && !slices.ContainsFunc(outside, func(o string) bool { return room == o || strings.HasPrefix(room, o+"/") }) {
			found[room] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Rows that speak of rooms to come, and rooms that nobody has placed, are both
// mistakes.
func TestRowsAreTheRoomsOnDisk(t *testing.T) {
	var rows []string
	for _, row := range Rows {
		for _, room := range row {
			if room != "cmd" {
				rows = append(rows, room)
			}
		}
	}
	slices.Sort(rows)
	require.Equal(t, onDisk(t), rows)
	for _, list := range [][]string{NoStd, Small, slices.Sorted(maps.Keys(Only))} {
		for _, room := range list {
			require.Contains(t, rows, room)
		}
	}
	for room, allowed := range Only {
		for _, to := range allowed {
			require.Contains(t, rows, to, "%s may import it", room)
		}
	}
	for pair := range Exceptions {
		from, to, _ := strings.Cut(pair, " -> ")
		require.Contains(t, rows, from)
		require.Contains(t, rows, to)
	}
}

// An optional interface has to say which engines do without it: there are three.
func TestEnginesAreFourInterfaces(t *testing.T) {
	var engines []string
	for _, s := range handWritten(t) {
		if path.Dir(s.path) != "tensor" || strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			decl, ok := n.(*ast.GenDecl)
			if !ok || len(decl.Specs) != 1 {
				return true
			}
			spec, ok := decl.Specs[0].(*ast.TypeSpec)
			if !ok {
				return true
			}
			if i, ok := spec.Type.(*ast.InterfaceType); ok {
				for _, f := range i.Methods.List {
					if e, ok := f.Type.(*ast.Ident); ok && e.Name == "Engine" {
						engines = append(engines, spec.Name.Name)
						require.Contains(t, decl.Doc.Text(), "It stands apart because", spec.Name.Name)
					}
				}
			}
			return true
		})
	}
	slices.Sort(engines)
	require.Equal(t, []string{"Brancher", "Follower", "Symbolic"}, engines)
}
