package operand

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// MaxRank bounds the dimensions that one array may have; it is PyTorch's limit.
const MaxRank = 64

// BadOperand panics with a diagnostic about operands that the type rule of an
// operator would have refused.
func BadOperand(step, msg string) {
	panic(&diag.Error{Code: OperandCode, Op: step, Msg: msg})
}

// BadIndex panics because index i is not in [0, size) of dimension dim.
func BadIndex(i int64, dim, size int) {
	panic(diag.New(IndexCode, "index "+strconv.FormatInt(i, 10)+" is out of range for dimension "+
		strconv.Itoa(dim)+" of size "+strconv.Itoa(size)))
}

// Axis returns dim counted from the front and panics when it is not one of rank.
func Axis(step string, dim, rank int) int {
	d := dim
	if d < 0 {
		d += rank
	}
	if d < 0 || d >= rank {
		BadOperand(step, "dimension "+strconv.Itoa(dim)+" does not exist, the operand has rank "+strconv.Itoa(rank))
	}
	return d
}

// Axes marks the dimensions that dims names in set. A 0-dimensional operand
// counts as one dimension, as in PyTorch.
func Axes(step string, set *[MaxRank]bool, dims []int, rank int) {
	for _, d := range dims {
		set[Axis(step, d, max(rank, 1))] = true
	}
}

// CheckRank panics when a's rank exceeds the fixed-size tables.
func CheckRank(step string, a *array.Array) int {
	if a.Rank() > MaxRank {
		BadOperand(step, "operand has rank "+strconv.Itoa(a.Rank())+", the limit is "+strconv.Itoa(MaxRank))
	}
	return a.Rank()
}

// Split returns the products of the dimensions before d, of d, and after d.
func Split(shape []int, d int) (outer, n, inner int) {
	outer, inner = 1, 1
	for _, s := range shape[:d] {
		outer *= s
	}
	for _, s := range shape[d+1:] {
		inner *= s
	}
	return outer, shape[d], inner
}

// Prod returns the product of s.
func Prod(s []int) int {
	n := 1
	for _, v := range s {
		n *= v
	}
	return n
}
