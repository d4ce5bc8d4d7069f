package train_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// wordNet classifies the mean of the rows that a table has for words.
type wordNet struct {
	Words *nn.Embedding
	Fc    *nn.Linear
}

func newWordNet(words int, opts ...nn.EmbeddingOption) *wordNet {
	return &wordNet{nn.NewEmbedding(words, 8, append(opts, nn.Seed(1))...), nn.NewLinear(8, 3, nn.Seed(2))}
}

func (m *wordNet) loss(x, y *tensor.Tensor) *tensor.Tensor {
	return nn.NewCrossEntropyLoss().Forward(m.Fc.Forward(m.Words.Forward(x).Mean(1)), y)
}

// wordStep is a step of a network with a table of so many words.
func wordStep(t *testing.T, m *wordNet, r optim.Rule) *train.Step {
	t.Helper()
	step, err := train.NewStep(ctx, m, m.loss, r, fx.Input("x", "i64[N,5]"), fx.Input("y", "i64[N]"))
	require.NoError(t, err)
	return step
}

// TestStep_rowsOfATable: gradient descent changes the rows of a table that a batch names, and makes
// nothing of the table's size: a plan takes the same memory for tables of any size. Rules that
// change every row, or look at the whole gradient, have it dense.
func TestStep_rowsOfATable(t *testing.T) {
	const few, many = 100, 10_000
	for _, c := range []struct {
		name   string
		rule   optim.Rule
		tables int // of the table's size, in the arena
	}{
		{"descent", optim.Rule{Optimiser: optim.SGD{LR: 0.1}}, 0},
		{"schedule", optim.Rule{Optimiser: optim.SGD{LR: 0.1}, Schedule: optim.WarmUp(3, 0.1, optim.Cosine(20, 0.1))}, 0},
		{"momentum", optim.Rule{Optimiser: optim.SGD{LR: 0.1, Momentum: 0.9}}, 1},
		{"decay", optim.Rule{Optimiser: optim.SGD{LR: 0.1, WeightDecay: 0.1}}, 1},
		{"clipped", optim.Rule{Optimiser: optim.SGD{LR: 0.1}, ClipNorm: 1}, 1},
		{"Adam", optim.Rule{Optimiser: optim.Adam{LR: 0.1}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var peak [2]int64
			for i, words := range []int{few, many} {
				var err error
				peak[i], err = planned(t, wordStep(t, newWordNet(words), c.rule)).PeakBytes(map[string]int{"N": 4})
				require.NoError(t, err)
			}
			require.EqualValues(t, c.tables*4*8*(many-few), peak[1]-peak[0])
		})
	}
}

// tableAfter runs a step on batches and returns the table, of the interpreter or of the plan.
func tableAfter(t *testing.T, step *train.Step, planned bool, batches ...[]*array.Array) []float32 {
	t.Helper()
	for _, b := range batches {
		var err error
		if planned {
			_, err = step.Run(ctx, b...)
		} else {
			_, err = step.Graph().RunArrays(ctx, b)
		}
		require.NoError(t, err)
	}
	step.Sync()
	return array.Data[float32](step.Graph().Param("words.weight").Value)
}

// TestStep_paddingRow: the row of a padding index is not trained.
func TestStep_paddingRow(t *testing.T) {
	x, y := array.FromSlice([]int64{1, 2, 3, 3, 3, 4, 3, 0, 3, 3}, 2, 5), array.FromSlice([]int64{0, 2}, 2)
	for _, r := range []optim.Rule{{Optimiser: optim.SGD{LR: 0.5}}, {Optimiser: optim.AdamW{LR: 0.1}}} {
		for _, planned := range []bool{false, true} {
			for _, padding := range []int{3, -17} {
				table := tableAfter(t, wordStep(t, newWordNet(20, nn.PaddingIdx(padding)), r), planned, []*array.Array{x, y}, []*array.Array{x, y})
				require.Equal(t, make([]float32, 8), table[24:32])
				require.NotEqual(t, array.Data[float32](newWordNet(20).Words.Weight.Array())[32:40], table[32:40])
			}
		}
	}
}

// TestStep_rowsThatComeTwice: each part of a row's gradient is added to the row, so that with one part the bits
// are those of the whole gradient, with several each rounds once, and other rows stay.
func TestStep_rowsThatComeTwice(t *testing.T) {
	once := array.FromSlice([]int64{0, 1, 2, 3, 4, 19, 18, 17, 16, 15}, 2, 5)
	twice := array.FromSlice([]int64{7, 7, 7, 3, 4, 7, 18, 17, 7, 15}, 2, 5)
	y := array.FromSlice([]int64{0, 2}, 2)
	rule := optim.Rule{Optimiser: optim.SGD{LR: 0.5}}
	start := array.Data[float32](array.Clone(newWordNet(20).Words.Weight.Array()))
	for _, c := range []struct {
		x         *array.Array
		untouched int64
		within    float64
	}{{once, 7, 0}, {twice, 0, 5 * 0x1p-24 * 4}} {
		var tables [2][]float32
		for i := range tables {
			batches := [][]*array.Array{{c.x, y}, {c.x, y}, {c.x, y}}
			if c.within > 0 { // of one step, whose rounding the next ones do not carry on
				batches = batches[:1]
			}
			tables[i] = tableAfter(t, wordStep(t, newWordNet(20), rule), i == 1, batches...)
		}
		for k := range start {
			require.InDelta(t, tables[0][k], tables[1][k], c.within, "element %d", k)
		}
		require.NotEqual(t, start, tables[1])
		row := tables[1][8*c.untouched : 8*c.untouched+8]
		require.Equal(t, start[8*c.untouched:8*c.untouched+8], row)
	}
}
