package oracle_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
	_ "github.com/gofx-dev/gofx/op/std" // the operators
)

// number reads a setting from the environment.
func number(t *testing.T, name string, def uint64) uint64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return def
	}
	n, err := strconv.ParseUint(s, 10, 64)
	require.NoError(t, err, name)
	return n
}

// TestFresh compares calls that nobody wrote with PyTorch; see package oracle.
func TestFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: PyTorch computes thousands of calls")
	}
	if err := oracle.Available(); err != nil {
		t.Skip(err)
	}
	seed, n := uint64(1), uint64(2)
	if os.Getenv("GOFX_NIGHTLY") == "1" {
		today, err := strconv.ParseUint(time.Now().UTC().Format("20060102"), 10, 64)
		require.NoError(t, err)
		seed, n = today, 30
	}
	seed, n = number(t, "GOFX_ORACLE_SEED", seed), number(t, "GOFX_ORACLE_SAMPLES", n)
	t.Logf("GOFX_ORACLE_SEED=%d GOFX_ORACLE_SAMPLES=%d", seed, n)

	var left []*op.Op
	for _, o := range api.Ops() {
		if strings.Contains(o.Name, os.Getenv("GOFX_ORACLE_OPS")) {
			left = append(left, o)
		}
	}
	// Rounds follow until as many calls of each operator have been compared: there
	// is nothing to compare where both refuse or a difference is excused.
	agreed := map[*op.Op]int{}
	for round := uint64(0); len(left) > 0 && round < 8; round++ {
		byOp := map[*op.Op][]oracle.Call{}
		var calls []oracle.Call
		for _, o := range left {
			byOp[o] = oracle.Fresh(o, seed+round<<32, int(n))
			calls = append(calls, byOp[o]...)
		}
		golden, err := oracle.Ask(context.Background(), t.TempDir(), calls)
		require.NoError(t, err)
		require.Len(t, golden, len(calls))
		for _, o := range left {
			t.Run(o.Name, func(t *testing.T) { agreed[o] += compare(t, byOp[o], golden) })
		}
		left = slices.DeleteFunc(left, func(o *op.Op) bool { return agreed[o] >= int(n) })
	}
	for _, o := range left {
		t.Errorf("%s: only %d calls were compared", o.Name, agreed[o])
	}
}

// compare judges the calls of one operator and returns how many have the same
// results.
func compare(t *testing.T, calls []oracle.Call, golden map[string]oracle.Golden) (same int) {
	refused, excused := 0, map[string]int{}
	for _, c := range calls {
		g := golden[c.Key]
		require.Equal(t, oracle.Fingerprint(c.Op, c.Sample), g.Fingerprint)
		r := oracle.Eval(c)
		difference, excuses := oracle.Judge(c, r, g)
		switch {
		case difference != "" && len(excuses) == 0:
			t.Errorf("%s (%s): %s%s", c, c.Name, difference, values(c))
		case difference != "":
			excused[excuses[0]]++
		case r.Err != nil:
			refused++
		case g.Outcome == oracle.Computed:
			same++
		}
	}
	t.Logf("%d have the same results, %d are refused by both, excused: %v", same, refused, excused)
	return same
}

// values shows the operands.
func values(c oracle.Call) (s string) {
	for i, a := range c.In {
		if a != nil {
			s += "\n\toperand " + strconv.Itoa(i) + " " + array.Format(a, 24)
		}
	}
	return s
}
