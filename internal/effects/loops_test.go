package effects

import (
	"context"
	"go/ast"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each function of the package has one loop of which the comment says that it rolls, or why it does not.
func TestLoopsRoll(t *testing.T) {
	p, err := Open(context.Background(), "./testdata/loops", os.Environ())
	require.NoError(t, err)
	n, rolls := 0, 0
	for _, file := range p.Package.Syntax {
		for _, d := range file.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || d.Recv != nil {
				continue
			}
			fn, err := p.Function(d.Name.Name)
			require.NoError(t, err)
			s := p.Summary(fn)
			n++
			why, reason := strings.CutPrefix(strings.TrimSpace(d.Doc.Text()), d.Name.Name+": ")
			switch {
			case reason:
				assert.NotEmpty(t, s.Unrolled, d.Name.Name)
				assert.Equal(t, why, s.Unrolled[0].Why, d.Name.Name)
				assert.Empty(t, s.Loops, d.Name.Name)
			case strings.Contains(why, " rolls"):
				rolls++
				assert.Empty(t, s.Unrolled, d.Name.Name)
				assert.Len(t, s.Loops, 1, d.Name.Name)
				assert.Greater(t, s.Loops[0].To, s.Loops[0].Line)
			default:
				assert.Empty(t, s.Loops, d.Name.Name)
			}
		}
	}
	require.Equal(t, [2]int{28, 5}, [2]int{n, rolls})
}
