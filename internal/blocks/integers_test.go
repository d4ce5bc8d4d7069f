package blocks

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Integers times scales, and minima, are what Decode makes of blocks.
func TestIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	with := 0
	for _, name := range Names() {
		f := Lookup(name)
		q, scale, least := make([]int8, f.Elements), make([]float32, f.Elements/Part), make([]float32, f.Elements/Part)
		want, b := make([]float32, f.Elements), make([]byte, f.Bytes)
		for range 50 {
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			for _, at := range f.Scales {
				b[at+1] &= 0xbf // no infinity
			}
			f.Decode(want, b)
			if !f.HasIntegers() {
				require.False(t, f.Integers(q, scale, least, b), name)
				continue
			}
			require.True(t, f.Integers(q, scale, least, b), name)
			for i, v := range q {
				require.Equal(t, want[i], float32(float32(v)*scale[i/Part])+least[i/Part], "%s %d", name, i)
			}
		}
		if f.HasIntegers() {
			with++
		}
	}
	require.Equal(t, 8, with)
}
