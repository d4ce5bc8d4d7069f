package quant

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
)

// defaultGroup is the size of groups where none is asked for, GPTQ's and AWQ's
// smallest usual one.
const defaultGroup = 32

// origin finds the weight that is operand i of a unit: a parameter, or one with its axes
// exchanged, such as the table of an embedding that makes the scores, too. The right operand
// of a product, where the weight alone is quantised, is stored with a row for each channel,
// as a linear layer has it.
func (r *resolver) origin(u *unit, i int) (o origin, why string) {
	n := u.head
	from, at := n, i
	exchanged := form.Exchanged(n.Arg(i))
	if exchanged != nil {
		from, at = exchanged, 0
	}
	o.path, o.value, why = r.params.Constant(from, at)
	if why != "" || o.value == nil || o.value.Rank() != 2 {
		return o, why
	}
	o.right = u.mode == WeightOnly && u.Weight.Axis == -1
	if o.turned = o.right == (exchanged == nil); o.turned {
		o.value = array.Permute(o.value, 1, 0)
	}
	return o, why
}

// form is what weights share that are stored once: parameter, scheme and layout.
func (w *weight) form() string {
	return w.path + " " + w.String() + " " + strconv.Itoa(w.axis) + " " + strconv.FormatBool(w.turned)
}

// weightOf decides how a weight is quantised; bad says why it cannot be at all.
func (u *unit) weightOf(arg int, o origin) (w *weight, bad *Why) {
	path, value := o.path, o.value
	s, can := u.asked.Weight, u.Operator.Weight
	w = &weight{origin: o, arg: arg, dtype: s.DType, bits: max(s.Bits, 8), kind: s.Granularity, group: s.Group, sym: s.Symmetry, observe: s.Observer.or(MinMax)}
	if s.Bits == 4 {
		w.bits = 4
	}
	refuse := func(text string) { w.why = append(w.why, Why{NoScheme, text}) }
	if w.axis = can.Axis; w.right {
		w.axis = 0
	} else if w.axis < 0 {
		w.axis += value.Rank()
	}
	if w.axis < 0 || w.axis >= value.Rank() {
		return nil, &Why{UnfitWeight, path + " is " + value.DType().String() + " of rank " + strconv.Itoa(value.Rank()) + ", its channels are axis " + strconv.Itoa(can.Axis)}
	}
	if text := notFinite(value); text != "" {
		return nil, &Why{UnfitWeight, path + " has " + text}
	}
	if value.Len() == 0 {
		return nil, &Why{UnfitWeight, path + " has no elements"}
	}
	if w.bits == 4 && !(slices.Contains(can.Bits, 4) && u.mode == WeightOnly) {
		refuse("4 bits are for weights alone, of what the backend has in 4 bits")
		w.bits = 8
	}
	if w.bits == 4 {
		w.fourBits(can, refuse)
		return w, nil
	}
	w.eightBits(can, s, refuse)
	return w, nil
}

// fourBits settles a weight of 4 bits: groups along the last axis of a matrix.
func (w *weight) fourBits(can Weight, refuse func(string)) {
	if w.group == 0 {
		w.group = defaultGroup
	}
	if w.kind != AnyGranularity && w.kind != PerGroup {
		refuse("weights of 4 bits have a scale for each group")
	}
	w.kind, w.dtype = PerGroup, array.U8
	if w.sym == AnySymmetry {
		w.sym = Affine
	}
	multiple, k := max(can.GroupOf, 2), w.value.Dim(-1)
	switch {
	case w.value.Rank() != 2 || w.axis != 0:
		refuse("4 bits are for matrices")
	case w.group%multiple != 0:
		refuse("a group of " + strconv.Itoa(w.group) + " is no multiple of " + strconv.Itoa(multiple))
	case k%w.group != 0:
		refuse("rows of " + strconv.Itoa(k) + " are not whole groups of " + strconv.Itoa(w.group))
	default:
		return
	}
	w.bits, w.kind, w.group, w.dtype, w.sym = 8, AnyGranularity, 0, array.Invalid, AnySymmetry
	w.eightBits(can, Scheme{}, refuse)
}

func (w *weight) eightBits(can Weight, s Scheme, refuse func(string)) {
	if !slices.Contains(can.DTypes, w.dtype) {
		if w.dtype != array.Invalid {
			refuse("the weight may be " + names(can.DTypes))
		}
		w.dtype = can.DTypes[0]
	}
	kinds := can.Granularities
	if len(kinds) == 0 {
		kinds = []Granularity{PerTensor}
	}
	if !slices.Contains(kinds, w.kind) || w.kind == PerGroup {
		if w.kind != AnyGranularity {
			refuse("8 bits have no scale for each " + w.kind.String())
		}
		w.kind = kinds[0]
	}
	w.group = 0
	if w.sym == AnySymmetry {
		w.sym = Symmetric
	}
	if w.sym == Affine && !can.Affine {
		refuse("the weight has no zero points")
		w.sym = Symmetric
	}
	if k := w.observe.Kind; w.kind == PerChannel && k != MinMax {
		refuse("channels are observed by min_max")
		w.observe = Observer{Kind: MinMax}
	}
}

func notFinite(a *array.Array) string {
	for i, v := range array.Data[float32](array.Contiguous(a)) {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return strconv.FormatFloat(float64(v), 'g', -1, 32) + " at element " + strconv.Itoa(i)
		}
	}
	return ""
}

// String returns "i8 symmetric channel, min_max".
func (w *weight) String() string {
	s := w.dtype.String()
	if w.bits == 4 {
		s = "u4"
	}
	s += " " + w.sym.String() + " " + w.kind.String()
	if w.kind == PerGroup {
		s += " of " + strconv.Itoa(w.group)
	}
	return s + ", " + w.observe.String()
}

func names(list []array.DType) string {
	s := ""
	for i, d := range list {
		if i > 0 {
			s += " and "
		}
		s += d.String()
	}
	return s
}
