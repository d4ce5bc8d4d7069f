package kernel

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// maxRank bounds the dimensions that one array may have; it is PyTorch's limit.
const maxRank = 64

// indexCode is the code of an index value that lies outside its dimension.
const indexCode diag.Code = "FX2030"

// emptyCode is the code of a reduction without identity over no elements.
const emptyCode diag.Code = "FX2031"

// operandCode is the code of operands whose layout a kernel cannot serve.
const operandCode diag.Code = "FX2032"

// badOperand panics with a diagnostic about operands that the type rule of an
// operator would have refused.
func badOperand(step, msg string) {
	panic(&diag.Error{Code: operandCode, Op: step, Msg: msg})
}

// badIndex panics because index i is not in [0, size) of dimension dim.
func badIndex(i int64, dim, size int) {
	panic(diag.New(indexCode, "index "+strconv.FormatInt(i, 10)+" is out of range for dimension "+
		strconv.Itoa(dim)+" of size "+strconv.Itoa(size)))
}

// axis returns dim counted from the front and panics when it is not one of rank.
func axis(step string, dim, rank int) int {
	d := dim
	if d < 0 {
		d += rank
	}
	if d < 0 || d >= rank {
		badOperand(step, "dimension "+strconv.Itoa(dim)+" does not exist, the operand has rank "+strconv.Itoa(rank))
	}
	return d
}

// axes marks the dimensions that dims names in set. A 0-dimensional operand
// counts as one dimension, as in PyTorch.
func axes(step string, set *[maxRank]bool, dims []int, rank int) {
	for _, d := range dims {
		set[axis(step, d, max(rank, 1))] = true
	}
}

// checkRank panics when a's rank exceeds what the fixed-size tables hold.
func checkRank(step string, a *array.Array) int {
	if a.Rank() > maxRank {
		badOperand(step, "operand has rank "+strconv.Itoa(a.Rank())+", the limit is "+strconv.Itoa(maxRank))
	}
	return a.Rank()
}

// split returns the products of the dimensions before d, of d, and after d.
func split(shape []int, d int) (outer, n, inner int) {
	outer, inner = 1, 1
	for _, s := range shape[:d] {
		outer *= s
	}
	for _, s := range shape[d+1:] {
		inner *= s
	}
	return outer, shape[d], inner
}

// prod returns the product of s.
func prod(s []int) int {
	n := 1
	for _, v := range s {
		n *= v
	}
	return n
}
