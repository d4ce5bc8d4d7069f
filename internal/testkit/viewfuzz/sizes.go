package viewfuzz

import (
	"math"
	"math/rand/v2"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// SetsPerChain is how many sets of sizes a chain is run with.
const SetsPerChain = 20

// most is the most elements of a value, so that 20 sets take no time.
const most = 1 << 12

// Sets returns sets of sizes, small and large ones, for which every value of the chain has
// sizes and at most 4096 elements; fewer than n where few are found. Guards of the chain
// may not hold for them: then every engine must say so.
func Sets(m *graph.Module, seed uint64, n int) (list []map[string]int) {
	r := rand.New(rand.NewPCG(seed, 52))
	for try := 0; len(list) < n && try < 8*n; try++ {
		env := map[string]int{}
		for _, s := range Symbols {
			env[s] = max(0, int(math.Exp(r.Float64()*math.Log(800)))-r.IntN(12)/11)
		}
		if fits(m, env) {
			list = append(list, env)
		}
	}
	return list
}

func fits(m *graph.Module, env map[string]int) bool {
	for n := range m.Graph.Nodes() {
		if n.Type().Kind() != shape.Tensor {
			continue
		}
		count := 1
		for _, d := range n.Type().Dims().Slice() {
			k, err := d.Eval(func(s string) (int, bool) { return env[s], true })
			if err != nil || k < 0 {
				return false
			}
			if count *= max(k, 1); count > most {
				return false
			}
		}
	}
	return true
}

// Inputs makes the inputs of a chain. All elements differ, and some are negative.
func Inputs(m *graph.Module, env map[string]int) []*array.Array {
	var in []*array.Array
	gen := passes.Random{State: 7}
	for _, n := range m.Graph.Inputs() {
		d, dims, _ := n.Type().Bind(func(s string) shape.Dim { return shape.Const(env[s]) }).Concrete()
		in = append(in, gen.Array(d, dims...))
	}
	return in
}
