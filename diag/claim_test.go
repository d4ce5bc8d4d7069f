package diag

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClaim(t *testing.T) {
	c := SizeOf{"C", "x", 1, 7}
	m := SizeOf{"M", "y", 0, 3}
	claim := func(rel Rel, a, b Side) string {
		return Claim{Rel: rel, Op: "group_norm", Input: "x", Type: "f32[2,7]", A: a, B: b}.String()
	}
	two := Side{Text: "2", Value: 2}
	plain := Side{"C", 7, []SizeOf{c}}
	require.Equal(t, `input "x" is f32[2,7]: group_norm needs C (axis 1, here 7) divisible by 2`, claim(MOD, plain, two))
	require.Equal(t, `input "x" is f32[2,7]: group_norm needs C (axis 1, here 7) at most 2`, claim(GE, two, plain))
	require.Equal(t, `input "x" is f32[2,7]: group_norm needs C (axis 1, here 7) equal to axis 0 of "y" (here 3)`, claim(EQ, plain, Side{"M", 3, []SizeOf{m}}))
	require.Equal(t, `input "x" is f32[2,7]: group_norm needs C-6 (here 1) at least 2*M (here 6), where C is axis 1, here 7, M is axis 0 of "y", here 3`,
		claim(GE, Side{"C-6", 1, []SizeOf{c}}, Side{"2*M", 6, []SizeOf{m}}))
	require.Equal(t, "the graph needs 3 equal to 2", Claim{A: Side{Text: "3", Value: 3}, B: two}.String())
}
