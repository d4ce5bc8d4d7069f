package near

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name, want string
		known      []string
	}{
		{"conv-nb", "conv-bn", []string{"dce", "conv-bn", "conv-relu"}},
		{"convbn", "conv-bn", []string{"dce", "conv-bn"}},
		{"wieghts", "weights", []string{"weights-mode", "weights"}},
		{"weight", "weights", []string{"weights-mode", "weights"}},
		{"NET", "Net", []string{"Not", "Net"}},
		{"prnt", "print", []string{"run", "print"}},
		{"resnet", "", []string{"mlp", "bert_base"}},
		{"x", "X", []string{"y", "X"}},
		{"x", "", []string{"y", "z"}},
		{"", "", []string{"a"}},
		{"grösze", "grösse", []string{"grösse"}},
		{"same", "", []string{"same"}},
		{strings.Repeat("a", 1<<20), "", []string{strings.Repeat("a", 1<<20) + "b"}},
	} {
		require.Equal(t, c.want, Of(c.name, c.known), c.name)
	}
	require.Equal(t, "did you mean gen?", Hint("gne", []string{"gen"}, "other"))
	require.True(t, IsHint(Hint("gne", []string{"gen"}, "other")))
	require.Equal(t, "other", Hint("zzz", []string{"gen"}, "other"))
}
