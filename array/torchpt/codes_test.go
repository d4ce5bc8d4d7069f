package torchpt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
)

// The documented example of each code is a file that has the fault.
func TestDocumentedExamples(t *testing.T) {
	parse := func(b []byte) error { _, err := Parse(b); return err }
	for code, example := range map[diag.Code]struct {
		text string
		run  func() error
	}{
		CodeFormat: {"an archive with a member m/code/a.py", func() error { return parse(archive(t, "m/code/a.py", "")) }},
		CodeSyntax: {"a pickle of the byte R", func() error { return parse(saved(t, "R")) }},
		CodeObject: {"a pickle that calls posix.system", func() error {
			return parse(saved(t, named("posix", "system")+tuple(str("true"))+"R."))
		}},
		CodeTensor: {"a tensor of 3 elements over a storage of 2", func() error { return parse(saved(t, f32(2, 0, []int64{3}, []int64{1}))) }},
		CodeName: {"a file without tensors, of which w is read", func() error {
			f, err := Parse(saved(t, "}."))
			require.NoError(t, err)
			_, err = f.Get("w")
			return err
		}},
	} {
		info, ok := diag.Lookup(code)
		require.True(t, ok, code)
		require.Equal(t, info.Example, example.text)
		require.ErrorIs(t, example.run(), code)
	}
}
