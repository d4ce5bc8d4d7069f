package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// padDims is the type rule of pad.
func padDims(c *op.Infer, a PadAttrs, d shape.Dims) (shape.Dims, error) {
	switch a.mode() {
	case "constant", "reflect", "replicate", "circular":
	default:
		return d, badAttr("mode", strconv.Quote(a.Mode), "constant, reflect, replicate or circular")
	}
	if a.Pad.Len()%2 != 0 || a.Pad.Len() > 2*d.Len() {
		return d, badAttr("pad", a.Pad.String(), "two counts for each of at most "+strconv.Itoa(d.Len())+" dimensions")
	}
	for _, p := range a.Pad.Slice() {
		if n, ok := p.Int(); p.IsUnknown() || ok && (n < -maxListAttr || n > maxListAttr) {
			return d, badAttr("pad", a.Pad.String(), "counts of at most "+strconv.Itoa(maxListAttr))
		}
	}
	lo, hi := a.counts(d.Len())
	for i := range d.Len() {
		if err := checkPad(c, a.mode(), i, d.At(i), lo[i], hi[i]); err != nil {
			return d, err
		}
		d = d.With(i, d.At(i).Add(lo[i]).Add(hi[i]))
	}
	return d, nil
}

// checkPad requires dimension i to have what padding takes away or repeats.
func checkPad(c *op.Infer, mode string, i int, n, lo, hi shape.Dim) error {
	needs := func(least shape.Dim, what string) error {
		return c.AtLeast(n, least, op.SizeMismatch, func() string {
			return "dimension " + strconv.Itoa(i) + " has size " + n.String() + " and paddings " + lo.String() + " and " + hi.String() + ", expected " + what
		})
	}
	zero, one := shape.Const(0), shape.Const(1)
	if err := needs(zero.Sub(lo).Sub(hi), "a result that is not negative"); err != nil {
		return err
	}
	for _, p := range []shape.Dim{lo, hi} {
		p = p.Max(zero)
		least, what := zero, ""
		switch { // nothing is needed where nothing is added
		case p.Is(0) || mode == "constant":
			continue
		case mode == "reflect":
			least, what = p.Add(p.Min(one)), "paddings below the size to reflect"
		case mode == "circular":
			least, what = p, "paddings of at most the size to wrap around"
		default:
			least, what = p.Min(one), "elements to repeat"
		}
		if err := needs(least, what); err != nil {
			return err
		}
	}
	return nil
}
