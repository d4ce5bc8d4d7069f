package source

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op/expr"
)

// flatIndex is the number of a work-item, and of a loop that work-items take turns in.
var (
	flatIndex = regexp.MustCompile(`int \w+ = GROUP0(?: % \d+)? \* (\d+) \+ LANE0;`)
	turns     = regexp.MustCompile(`for \(int (\w+) = (?:LANE0|i|0); (\w+) < (\d+); \w+ \+= (\d+)\)`)
)

// TestLastGroupsCount: of kernels of as many elements as a buffer may have, no work-item's number and no loop's leaves 32 bits, and those of
// the last group that are too many stop.
func TestLastGroupsCount(t *testing.T) {
	same := func(d array.DType) Epilogue {
		eb := expr.NewBuilder()
		return Epilogue{G: eb.Graph(eb.Input(0, d)), In: []View{Dense(d, []int{1})}}
	}
	eb := expr.NewBuilder()
	negative := eb.Graph(eb.Neg(eb.Input(0, array.I8)))
	for _, n := range []int{MaxElements, MaxElements - 1, MaxElements - 63, MaxElements - 255} {
		vector, row, column := Dense(array.I8, []int{n}), Dense(array.F32, []int{1, n}), Dense(array.F32, []int{n, 1})
		one := Dense(array.F32, []int{1, 1})
		kernels := map[string]*Kernel{
			"elementwise": Elementwise(negative, []int{n}, []View{vector}, []View{vector}),
			"copy":        Copy(vector, vector),
			"fill":        Fill(vector, 0),
			"pad":         Pad([]int{n}, Dense(array.I8, []int{n - 5}), []int{2}, "circular", 0),
			"frame":       Frame([]int{n}, Dense(array.I8, []int{n - 5}), []int{2}, true, array.I16),
			"rows":        Reduce("sum", array.F32, column, []int{1}, 1),
			"all":         Reduce("max", array.I8, vector, []int{0}, 128),
			"ends":        Ends(n, 1024),
			"words":       Words(Dense(array.I8, []int{1, n}), 1, 1, []int{1, WordsOf(n)}, []int{0, 0}, false),
			"lookup":      Lookup(n),
			"dot":         Dot(column, column, one, same(array.F32)),
			"tile":        TileFor(8, n).Product(row, one, []int{1, n}, same(array.F32)),
			"block":       BlockFor(1, n, 1, 4, 256).Product(column, column, one, same(array.F32)),
			"ranks":       Ranks(vector, 0, false),
			"merge":       Merge(vector, 0, false, 1<<30),
		}
		for name, k := range kernels {
			require.LessOrEqual(t, k.Items(), MaxItems, name)
			for _, m := range flatIndex.FindAllStringSubmatch(k.Text, -1) {
				group := atoi(t, m[1])
				require.Equal(t, k.Group[0], group, name)
				require.LessOrEqual(t, (k.Groups[0]-1)*group+group-1, math.MaxInt32, name)
				if strings.Contains(name, "tile") {
					continue // counts tiles
				}
				require.Equal(t, k.Groups[0]*group != count(t, k, name, n), strings.Contains(k.Text, ") return;"), name)
			}
			for _, m := range turns.FindAllStringSubmatch(k.Text, -1) {
				require.Equal(t, m[1], m[2], name)
				require.LessOrEqual(t, atoi(t, m[3])-1+atoi(t, m[4]), math.MaxInt32, name)
			}
		}
		require.Regexp(t, flatIndex, kernels["elementwise"].Text)
		require.Regexp(t, turns, kernels["all"].Text)
		for _, sum := range []string{"(lo + hi)", "2 * w)", "start + p"} { // of two indices
			require.NotContains(t, kernels["merge"].Text, sum)
		}
		require.NotContains(t, kernels["pad"].Text, "+ "+strconv.Itoa(n-5)+") %")
	}
}

// count is how many work-items have something to do.
func count(t *testing.T, k *Kernel, name string, n int) int {
	t.Helper()
	switch name {
	case "ends":
		return 1024
	case "words":
		return WordsOf(n)
	}
	return n
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}
