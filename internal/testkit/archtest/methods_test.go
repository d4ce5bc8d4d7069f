package archtest

import (
	"go/ast"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxMethods bounds the hand-written methods of a type: in one that does everything every
// change meets every other.
const maxMethods = 60

// methodsAreAPI are the types that have more because their methods are the API; manyMethods
// are the others, with the number that they have and must not exceed.
var (
	methodsAreAPI = map[string]bool{"tensor.Tensor": true, "graph.Node": true, "op/expr.Builder": true}
	manyMethods   = map[string]int{"tracer.trace": 115, "graph.Graph": 87}
)

func TestTypesHaveFewMethods(t *testing.T) {
	counts := map[string]int{}
	for _, s := range handWritten(t) {
		room := path.Dir(s.path)
		if strings.HasSuffix(s.path, "_test.go") || isMachinery(room) {
			continue
		}
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				counts[room+"."+receiver(f)]++
			}
		}
	}
	for name := range methodsAreAPI {
		require.Contains(t, counts, name)
		delete(counts, name)
	}
	require.Empty(t, compare("methods", maxMethods, counts, manyMethods))
}

// receiver is the name of the type that a method belongs to.
func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
