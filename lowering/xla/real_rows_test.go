package xla_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/op"
)

var update = flag.Bool("update", false, "write which samples XLA has computed")

// rowsFile says of each operator how many of its samples XLA has computed as the operator does, and a
// fingerprint of their programs; docs/ops.md has it from there.
const rowsFile = "testdata/xla.tsv"

// row is a line of it without the operator.
type row struct {
	samples int
	print   string
}

func readRows(t testing.TB) map[string]row {
	t.Helper()
	data, err := os.ReadFile(rowsFile)
	require.NoError(t, err)
	rows := map[string]row{}
	for line := range strings.Lines(string(data)) {
		var key string
		var r row
		if _, err := fmt.Sscanf(line, "%s\t%d\t%s\n", &key, &r.samples, &r.print); err == nil {
			rows[key] = r
		}
	}
	return rows
}

func writeRows(t testing.TB, rows map[string]row) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Samples that XLA has computed; go test ./lowering/xla -run TestXLAComputesSamples -update writes it, with GOFX_NIGHTLY=1.\n")
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "%s\t%d\t%s\n", key, rows[key].samples, rows[key].print)
	}
	require.NoError(t, os.WriteFile(rowsFile, []byte(b.String()), 0o644))
}

// rowOf is what the file has of an operator all of whose programs XLA computes as they are now.
func rowOf(t testing.TB, o *op.Op) row {
	t.Helper()
	h, r := fnv.New64a(), row{}
	for _, s := range o.Samples() {
		p, err := xla.Emit(oneCall(o, s.Attrs, s.In), lowering.Options{})
		if err != nil {
			require.ErrorIs(t, err, lowering.Unsupported)
			continue
		}
		r.samples++
		h.Write([]byte(p.String()))
	}
	r.print = fmt.Sprintf("%016x", h.Sum64())
	return r
}

// TestXLAHasComputedThesePrograms: the file is of the programs that are emitted now.
func TestXLAHasComputedThesePrograms(t *testing.T) {
	rows := readRows(t)
	var stale []string
	for _, o := range triedOps() {
		if rows[o.Key()] != rowOf(t, o) {
			stale = append(stale, o.Key())
		}
		delete(rows, o.Key())
	}
	require.Empty(t, stale, "XLA has not computed the samples of these as they are emitted now: GOFX_NIGHTLY=1 go test ./lowering/xla -run 'TestXLAComputesSamples/^(%s)$' -update", strings.Join(stale, "|"))
	require.Empty(t, rows, "%s has operators that there are not", rowsFile)
}
