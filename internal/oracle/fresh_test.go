package oracle_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/oracle"
	"github.com/gofx-dev/gofx/op"
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
		t.Skip("short")
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

	var calls []oracle.Call
	for _, o := range oracle.Ops() {
		if strings.Contains(o.Name, os.Getenv("GOFX_ORACLE_OPS")) {
			calls = append(calls, oracle.Fresh(o, seed, int(n))...)
		}
	}
	golden, err := oracle.Ask(context.Background(), t.TempDir(), calls)
	require.NoError(t, err)
	require.Len(t, golden, len(calls))

	byOp := map[*op.Op][]oracle.Call{}
	for _, c := range calls {
		byOp[c.Op] = append(byOp[c.Op], c)
	}
	for _, o := range oracle.Ops() {
		if byOp[o] == nil {
			continue
		}
		t.Run(o.Name, func(t *testing.T) { compare(t, byOp[o], golden, n) })
	}
}

// compare judges the calls of one operator, of which at least n must have been
// computed by it and tried by PyTorch.
func compare(t *testing.T, calls []oracle.Call, golden map[string]oracle.Golden, n uint64) {
	compared, refused, excused := uint64(0), 0, map[string]int{}
	for _, c := range calls {
		g := golden[c.Key]
		require.Equal(t, oracle.Fingerprint(c.Op, c.Sample), g.Fingerprint)
		r := oracle.Eval(c)
		difference, excuses := oracle.Judge(c, r, g)
		switch {
		case difference != "" && excuses == nil:
			t.Errorf("%s (%s): %s%s", c, c.Name, difference, values(c))
		case difference != "":
			excused[excuses[0]]++
		case r.Err != nil:
			refused++
		case g.Outcome == oracle.Computed:
			compared++
		}
	}
	t.Logf("%d agree, %d refused by both, excused: %v", compared, refused, excused)
	if filtered := os.Getenv("GOFX_ORACLE_SAMPLES") != ""; !filtered && n >= 30 {
		require.GreaterOrEqual(t, compared, n/2, "too few calls were compared")
	}
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
