package std_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/oracle"
)

// TestPyTorch compares every sample with what PyTorch computes, kept in files, so
// that what differs is what the records name; see package oracle for fresh
// samples and for how the results were made.
func TestPyTorch(t *testing.T) {
	golden, err := oracle.Load("testdata/torch")
	require.NoError(t, err)
	compared, of := map[string]int{}, map[string]int{}
	for _, c := range oracle.Samples() {
		t.Run(c.Key, func(t *testing.T) {
			g, ok := golden[c.Key]
			require.True(t, ok, "%s (%s) has no result: run internal/testkit/oracle", c, c.Name)
			require.Equal(t, oracle.Fingerprint(c.Op, c.Sample), g.Fingerprint, "%s (%s) has changed: run internal/testkit/oracle", c, c.Name)
			of[c.Op.Name]++
			r := oracle.Eval(c)
			require.NoError(t, r.Err, "%s (%s)", c, c.Name)
			difference, excuses := oracle.Judge(c, r, g)
			if difference != "" && len(excuses) == 0 {
				t.Errorf("%s (%s): %s", c, c.Name, difference)
			}
			if g.Results != nil {
				compared[c.Op.Name]++
			}
		})
	}
	total := 0
	for name, n := range of {
		total += compared[name]
		require.GreaterOrEqual(t, 4*compared[name], 2*n, "too few samples of %s have a result", name)
	}
	require.Greater(t, total, 3200)
}
