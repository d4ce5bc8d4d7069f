package codegen_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
)

// TestKernelSizesThatFollowFromValues generates, runs and compares with the executor.
func TestKernelSizesThatFollowFromValues(t *testing.T) {
	var cases []*kernelCase
	for i, name := range slices.Sorted(maps.Keys(fxtest.LateGraphs)) {
		m := kernelModule(t, fxtest.LateGraphs[name])
		c := &kernelCase{name: fmt.Sprintf("late%d", i), module: m, flat: true, late: true, symbols: []string{"N"}}
		if name == "state written on both sides" {
			continue // the caller owns the state
		}
		for _, in := range fxtest.LateInputs() {
			c.inputs = append(c.inputs, in)
			c.sizes = append(c.sizes, []int{in[0].Dim(0)})
		}
		cases = append(cases, c)
	}
	dir, _ := runCases(t, cases)
	var all []string
	for _, c := range cases {
		checkStyle(t, c.files)
		checkFunctions(t, c.files)
		all = append(all, "./"+c.name)
	}
	goTool(t, dir, nil, append([]string{"vet"}, all...)...)
}
