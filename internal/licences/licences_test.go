package licences

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestModulesHaveTexts(t *testing.T) {
	require.Greater(t, len(All()), 15)
	for _, m := range All() {
		require.NotEmpty(t, m.Licence, m.Path)
		require.NotEmpty(t, m.Texts, m.Path)
		for _, text := range m.Texts {
			require.NotEmpty(t, text.Text, "%s: %s", m.Path, text.File)
		}
	}
}

func TestOf(t *testing.T) {
	m, ok := Of("github.com/spf13/cobra")
	require.True(t, ok)
	require.Equal(t, "Apache-2.0", m.Licence)
	require.Contains(t, m.Texts[0].Text, "Apache License")
	std, ok := Of(Std)
	require.True(t, ok)
	require.Equal(t, "BSD-3-Clause", std.Licence)
	_, ok = Of("example.com/nothing")
	require.False(t, ok)
}

func TestAllIsACopy(t *testing.T) {
	All()[0].Path = "changed"
	require.NotEqual(t, "changed", All()[0].Path)
}
