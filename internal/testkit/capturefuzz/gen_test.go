package capturefuzz

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramsParse prints many programs, the same ones for the same seed.
func TestProgramsParse(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(2000) {
		p := Generate(seed, int(seed))
		src := p.Source()
		_, err := parser.ParseFile(token.NewFileSet(), p.File(), src, 0)
		require.NoError(t, err, src)
		require.Equal(t, src, Generate(seed, int(seed)).Source())
		for _, k := range p.Kinds() {
			kinds[k]++
		}
	}
	for _, r := range rows {
		if r.kind != "holder" {
			require.NotZero(t, kinds[r.kind], "no program has a statement of kind %s", r.kind)
		}
	}
	t.Log(kinds)
}
