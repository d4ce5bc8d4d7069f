package pt2

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/shape"
)

// Guards are Python; this is the part that PyTorch writes.
func TestGuards(t *testing.T) {
	size := func(path string, axis int) shape.Dim {
		switch {
		case path == "L['x']" && axis == 0:
			return shape.Sym("N")
		case path == "L['k']" && axis < 0:
			return shape.Sym("k")
		case path == "L['cache'].layers[0].keys" && axis == 2:
			return shape.Sym("P")
		}
		return shape.Unknown
	}
	for text, want := range map[string]string{
		"(L['x'].size()[0] % 8) == 0":                    "N % 8 == 0",
		"L['x'].size()[0] != 1":                          "N != 1",
		"3 < L['x'].size()[0]":                           "N >= 4",
		"L['k'] >= 0 and L['k'] <= L['x'].size()[0]":     "k >= 0; N >= k",
		"2*L['cache'].layers[0].keys.size()[2] >= -(3)":  "P >= -1",
		"torch.sym_max(1, L['x'].size()[0] // 2) == 1":   "N//2-min(N//2,1)+1 == 1",
		"L['x'].size()[0]**2 <= 16":                      "N*N <= 16",
		"L['x'].size()[1] == 3":                          "no size that is known",
		"L['x'].size()[0]":                               "expected a comparison",
		"L['x'] is None":                                 "no size that is known",
		"L['x'].size()[0] == 3 or L['x'].size()[0] == 4": `"or L['x'].size()[0] == 4" is left`,
		"L['x'":               "a bracket is open",
		"type(L['x']) == int": "expected a number",
		"L['x'].size()[0] == 99999999999999999999999999":    "expected a number",
		strings.Repeat("-", 1000) + "L['x'].size()[0] == 1": "nested too deep",
	} {
		list, err := (&guardParser{text: text, size: size}).relations()
		if err != nil {
			require.Contains(t, err.Error(), want, text)
			require.ErrorIs(t, err, CodeGuard)
			continue
		}
		var got []string
		for _, r := range list {
			got = append(got, r.String())
		}
		require.Equal(t, want, strings.Join(got, "; "), text)
	}
}
