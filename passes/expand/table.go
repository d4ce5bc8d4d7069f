package expand

import (
	"maps"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// Table returns the expansions, a new map that a target may take entries out of or add
// its own to.
func Table() simplify.Expansions { return maps.Clone(table) }

// Primitives returns the operators with a kernel that calls end in, sorted by name.
// Beside them stand all operators with an expression.
func Primitives() []*op.Op {
	all := slices.Collect(maps.Keys(primitives))
	slices.SortFunc(all, func(a, b *op.Op) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// IsPrimitive reports whether calls of the operator are left when everything is
// expanded: it has an expression, belongs to the IR itself, or is among Primitives.
func IsPrimitive(o *op.Op) bool {
	return o.Scalar() || o.Structural() || primitives[o]
}

// Reasons returns why an operator has no expansion, for each that has none and is no
// primitive.
func Reasons() map[*op.Op]string { return maps.Clone(reasons) }

var primitives = map[*op.Op]bool{
	std.Reshape: true, std.Permute: true, std.Expand: true, std.Slice: true, std.Cat: true, std.Pad: true,
	std.Flip: true, std.Bitcast: true, std.Clone: true,
	std.Sum: true, std.Prod: true, std.Amax: true, std.Amin: true,
	std.MaxPool1d: true, std.MaxPool2d: true, std.MaxPool3d: true,
	std.AvgPool1d: true, std.AvgPool2d: true, std.AvgPool3d: true,
	std.Bmm: true, std.Conv1d: true, std.Conv2d: true, std.Conv3d: true,
	std.Gather: true, std.IndexSelect: true, std.Scatter: true, std.ScatterReduce: true,
	std.Sort: true,
}

const byValue = "sizes of its results follow from the values of its operands"

var reasons = map[*op.Op]string{
	std.Nonzero: byValue, std.Unique: byValue, std.Range: byValue, std.NonMaxSuppression: byValue, std.NonMaxSuppressionLimits: byValue, std.Sized: byValue,
	std.Barrier: "it keeps what is computed again apart from what it stands for",
	std.Wait:    "it blocks until another computes: an effect, and no arithmetic",
	std.Det:     "elimination with pivots is a chain of steps as long as the matrix, each of which looks for the next",
	std.Observe: "its histogram widens in rounds that values count; it belongs to calibration, which is interpreted",
}

// table is all families; each is in the file that is called after it.
var table = merge(movement, scattering, reductions, norms, products, pools, patches, orders, recurrent, resizing, quantised, quantProducts, sampling, algebra)

// merge adds the entries of a family.
func merge(families ...simplify.Expansions) simplify.Expansions {
	all := simplify.Expansions{}
	for _, f := range families {
		for o, x := range f {
			all[o] = x
		}
	}
	return all
}
