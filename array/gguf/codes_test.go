package gguf

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
)

// The documented example of each code is a file that has the fault.
func TestDocumentedExamples(t *testing.T) {
	get := func(b []byte, name string) error {
		f, err := Parse(b)
		if err == nil {
			_, err = f.Get(name)
		}
		return err
	}
	for code, example := range map[diag.Code]struct {
		text string
		run  func() error
	}{
		CodeSyntax: {"the bytes GGUF and version 1", func() error { return get(head(1, 0, 0).Bytes(), "w") }},
		CodeType: {"a tensor of type 16, IQ2_XXS", func() error {
			return get(file(3, 0, nil, 32, entry{"w", []uint64{256}, 16, make([]byte, 66)}), "w")
		}},
		CodeName: {"a file without tensors, of which w is read", func() error { return get(file(3, 0, nil, 32), "w") }},
	} {
		info, ok := diag.Lookup(code)
		require.True(t, ok, code)
		require.Equal(t, info.Example, example.text)
		require.ErrorIs(t, example.run(), code)
	}
}
