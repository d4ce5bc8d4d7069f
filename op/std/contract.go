package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// The checks below are shared by the operators with a weight: contractions,
// pooling, normalisation and recurrent layers.

// operandAt returns the type of operand i, the zero Type when it is absent.
func operandAt(in []shape.Type, i int) shape.Type {
	if i < len(in) {
		return in[i]
	}
	return shape.Type{}
}

// valueAt returns operand i, nil when it is absent.
func valueAt(in []op.Value, i int) op.Value {
	if i < len(in) {
		return in[i]
	}
	return nil
}

// sameFloat requires the present operands to have one floating-point element
// type and returns it; array.Invalid when none of them is known.
func sameFloat(names []string, in []shape.Type) (array.DType, error) {
	d, err := sameNumber(names, in)
	if err == nil && d != array.Invalid && !d.IsFloat() {
		err = notFloat(names[0], d)
	}
	return d, err
}

func notFloat(name string, d array.DType) error {
	return diag.New(op.DTypeMismatch, name+" has element type "+d.String()+", expected a floating-point type").
		WithHint("cast it first")
}

// sameNumber requires the present operands to have one element type other than
// bool and returns it; array.Invalid when none of them is known.
func sameNumber(names []string, in []shape.Type) (array.DType, error) {
	d, first := array.Invalid, ""
	for i, name := range names {
		t := operandAt(in, i)
		switch {
		case t.Kind() != shape.Tensor || t.DType() == array.Invalid:
		case t.DType() == array.Bool:
			return array.Invalid, diag.New(op.DTypeMismatch, name+" has element type bool, expected a number").WithHint("cast it first")
		case d == array.Invalid:
			d, first = t.DType(), name
		case t.DType() != d:
			return array.Invalid, diag.New(op.DTypeMismatch,
				name+" has element type "+t.DType().String()+", expected that of "+first+", "+d.String()).WithHint("cast one of them")
		}
	}
	return d, nil
}

// wantRank requires a rank of lo to hi when the rank is known.
func wantRank(name string, t shape.Type, lo, hi int) error {
	if !t.Ranked() || (t.Rank() >= lo && t.Rank() <= hi) {
		return nil
	}
	want := strconv.Itoa(lo)
	switch {
	case hi == lo+1:
		want += " or " + strconv.Itoa(hi)
	case hi > lo+1:
		want = "at least " + want
	}
	return diag.New(op.RankMismatch, name+" "+t.String()+" has "+strconv.Itoa(t.Rank())+" dimensions, expected "+want)
}

// anyRank is the upper bound of wantRank for operators without one.
const anyRank = 1 << 20

// wantVector requires an absent operand or one of shape [n].
func wantVector(c *op.Infer, name string, t shape.Type, n shape.Dim, of string) error {
	if err := wantRank(name, t, 1, 1); err != nil || !t.Ranked() {
		return err
	}
	_, err := c.Equal(t.Dim(0), n, op.SizeMismatch, func() string {
		return name + " has " + t.Dim(0).String() + " elements, " + of + " has " + n.String()
	})
	return err
}

// badAttr returns the error of an attribute out of its range.
func badAttr(name, is, want string) error {
	return diag.New(op.BadAttr, name+" is "+is+", expected "+want)
}

// oneOr says how many numbers a list may have of which a single one serves for n.
func oneOr(n int) string {
	if n == 1 {
		return "1"
	}
	return "1 or " + strconv.Itoa(n)
}

// maxListAttr keeps arithmetic on strides and paddings in range.
const maxListAttr = 1<<31 - 1

// listAttr expands a list attribute to n entries from least to maxListAttr.
func listAttr(name string, l op.Ints, n, def, least int) ([]int, error) {
	v, err := l.Or(n, def)
	if err != nil {
		return nil, badAttr(name, l.String(), oneOr(n)+" elements")
	}
	for _, x := range v {
		if x < least || x > maxListAttr {
			return nil, badAttr(name, l.String(), "numbers from "+strconv.Itoa(least)+" to "+strconv.Itoa(maxListAttr))
		}
	}
	return v, nil
}

// mustList is listAttr after the type rule has accepted the attribute.
func mustList(l op.Ints, n, def int) []int {
	v, err := l.Or(n, def)
	if err != nil {
		panic(err)
	}
	return v
}

// typeOf returns a tensor type, unranked unless ranked.
func typeOf(d array.DType, ranked bool, dims ...shape.Dim) shape.Type {
	if !ranked {
		return shape.Unranked(d)
	}
	return shape.TensorType(d, shape.Of(dims...))
}

// twiceProduct returns 2·n·Π dims: the flops of n·Π dims multiply-adds.
func twiceProduct(n shape.Dim, dims ...shape.Dim) shape.Dim {
	n = n.MulInt(2)
	for _, d := range dims {
		n = n.Mul(d)
	}
	return n
}

// elementCount returns the number of elements of a tensor type.
func elementCount(t shape.Type) shape.Dim {
	if !t.Ranked() {
		return shape.Unknown
	}
	return t.Dims().Prod()
}
