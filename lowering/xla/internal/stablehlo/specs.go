package stablehlo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// spec is what the specification says of an operation, as far as programs here need it.
type spec struct {
	in, regions int      // counts; in is any where it is -1
	alike       bool     // operands and result have one type
	attrs       []string // names with their kinds: "dimension:int", optional ones end in "?"
	// infer returns the types of the results; nil where they do not follow from the operands.
	infer func(o *Op) ([]Type, error)
	// fits says whether the result types, which are there, fit; it is asked after infer.
	fits func(o *Op) error
}

// classes of element types, as the specification writes constraints
func isFloat(d array.DType) bool   { return d.IsFloat() }
func isNumber(d array.DType) bool  { return d.IsFloat() || d.IsInt() }
func isBits(d array.DType) bool    { return d.IsInt() || d == array.Bool }
func isInteger(d array.DType) bool { return d.IsInt() }
func isAny(d array.DType) bool     { return isNumber(d) || d == array.Bool }
func isSignedNumber(d array.DType) bool {
	return d.IsFloat() || d.IsInt() && d.IsSigned()
}

var specs = map[string]spec{
	"abs": same(1, isSignedNumber), "add": same(2, isAny), "and": same(2, isBits), "atan2": same(2, isFloat), "ceil": same(1, isFloat),
	"cosine": same(1, isFloat), "divide": same(2, isNumber), "exponential": same(1, isFloat), "exponential_minus_one": same(1, isFloat),
	"floor": same(1, isFloat), "log": same(1, isFloat), "log_plus_one": same(1, isFloat), "logistic": same(1, isFloat),
	"maximum": same(2, isAny), "minimum": same(2, isAny), "multiply": same(2, isAny), "negate": same(1, isNumber), "not": same(1, isBits),
	"optimization_barrier": same(1, isAny),
	"or":                   same(2, isBits), "power": same(2, isNumber), "remainder": same(2, isNumber), "round_nearest_even": same(1, isFloat),
	"rsqrt": same(1, isFloat), "shift_left": same(2, isInteger), "shift_right_arithmetic": same(2, isInteger),
	"shift_right_logical": same(2, isInteger), "sign": same(1, isSignedNumber), "sine": same(1, isFloat), "sqrt": same(1, isFloat),
	"subtract": same(2, isNumber), "tanh": same(1, isFloat), "xor": same(2, isBits),

	"compare":         {in: 2, attrs: []string{"comparison_direction:enum", "compare_type:enum?"}, infer: inferCompare},
	"select":          {in: 3, infer: inferSelect},
	"is_finite":       {in: 1, infer: inferFinite},
	"convert":         {in: 1, fits: sameDims},
	"bitcast_convert": {in: 1, fits: fitsBitcast},
	"constant":        {attrs: []string{"value:dense"}, infer: inferConstant},
	"iota":            {attrs: []string{"iota_dimension:int"}, fits: fitsIota},

	"broadcast_in_dim":     {in: 1, attrs: []string{"broadcast_dimensions:ints"}, fits: fitsBroadcast},
	"reshape":              {in: 1, fits: fitsReshape},
	"transpose":            {in: 1, attrs: []string{"permutation:ints"}, infer: inferTranspose},
	"reverse":              {in: 1, attrs: []string{"dimensions:ints"}, infer: inferReverse},
	"slice":                {in: 1, attrs: []string{"start_indices:ints", "limit_indices:ints", "strides:ints"}, infer: inferSlice},
	"dynamic_slice":        {in: -1, attrs: []string{"slice_sizes:ints"}, infer: inferDynamicSlice},
	"dynamic_update_slice": {in: -1, infer: inferUpdateSlice},
	"concatenate":          {in: -1, attrs: []string{"dimension:int"}, infer: inferConcat},
	"pad":                  {in: 2, attrs: []string{"edge_padding_low:ints", "edge_padding_high:ints", "interior_padding:ints"}, infer: inferPad},
	"gather":               {in: 2, attrs: []string{"dimension_numbers:gather", "slice_sizes:ints", "indices_are_sorted:bool?"}, infer: inferGather},
	"scatter": {in: 3, regions: 1, attrs: []string{"scatter_dimension_numbers:scatter", "indices_are_sorted:bool?", "unique_indices:bool?"},
		infer: inferScatter},

	"reduce": {in: -1, regions: 1, attrs: []string{"dimensions:ints"}, infer: inferReduce},
	"reduce_window": {in: -1, regions: 1, attrs: []string{"window_dimensions:ints", "window_strides:ints?", "base_dilations:ints?",
		"window_dilations:ints?", "padding:dense?"}, infer: inferReduceWindow},
	"dot_general": {in: 2, attrs: []string{"dot_dimension_numbers:dot", precisionAttr + ":enums?"}, infer: inferDot, fits: fitsProduct},
	"convolution": {in: 2, attrs: []string{"dimension_numbers:conv", "window_strides:ints?", "padding:dense?", "lhs_dilation:ints?",
		"rhs_dilation:ints?", "window_reversal:bools?", "feature_group_count:int", "batch_group_count:int",
		precisionAttr + ":enums?"}, infer: inferConv, fits: fitsProduct},
	"sort":               {in: -1, regions: 1, attrs: []string{"dimension:int?", "is_stable:bool?"}, infer: inferSort},
	"custom_call":        {in: 1, attrs: []string{"call_target_name:str", shardingAttr + ":str"}, infer: inferCustom},
	"set_dimension_size": {in: 2, attrs: []string{"dimension:int"}, infer: inferSetSize},
	"while":              {in: -1, regions: 2, infer: inferWhile},
	"if":                 {in: 1, regions: 2, infer: inferIf},
}

// Names lists the operations that programs may have, sorted.
func Names() []string {
	var l []string
	for n := range specs {
		l = append(l, n)
	}
	slices.Sort(l)
	return l
}

func kindOf(a Attribute) string {
	switch a.(type) {
	case Int:
		return "int"
	case Bool:
		return "bool"
	case Ints:
		return "ints"
	case Bools:
		return "bools"
	case Str:
		return "str"
	case Enum:
		return "enum"
	case Enums:
		return "enums"
	case Dense:
		return "dense"
	case Dot:
		return "dot"
	case Conv:
		return "conv"
	case Gather:
		return "gather"
	case Scatter:
		return "scatter"
	}
	return "unknown"
}

// shape checks what must hold before a type rule can look at the operation: the number
// of operands and regions, and the attributes.
func (s spec) shape(o *Op) error {
	fail := func(format string, a ...any) error { return fmt.Errorf("stablehlo."+o.Name+": "+format, a...) }
	if s.in >= 0 && len(o.Operands) != s.in {
		return fail("%d operands, expected %d", len(o.Operands), s.in)
	}
	if s.in < 0 && len(o.Operands) == 0 {
		return fail("no operands, expected some")
	}
	if len(o.Regions) != s.regions {
		return fail("%d regions, expected %d", len(o.Regions), s.regions)
	}
	known := map[string]string{}
	for _, a := range s.attrs {
		name, kind, _ := strings.Cut(a, ":")
		known[name] = strings.TrimSuffix(kind, "?")
		if o.Get(name) == nil && !strings.HasSuffix(kind, "?") {
			return fail("attribute %s is missing", name)
		}
	}
	for _, a := range o.Attrs {
		if kind, ok := known[a.Name]; ok && kindOf(a.Value) != kind {
			return fail("attribute %s is %s, expected %s", a.Name, kindOf(a.Value), kind)
		}
	}
	return nil
}

// stranger returns the name of an attribute that the operation does not have, "" where there is none. MLIR
// keeps such attributes and XLA does not read them: in programs that are written here they are a mistake.
func (s spec) stranger(o *Op) string {
	for _, a := range o.Attrs {
		if !slices.ContainsFunc(s.attrs, func(known string) bool { return strings.HasPrefix(known, a.Name+":") }) {
			return a.Name
		}
	}
	return ""
}

// check holds one operation with its results to its spec.
func check(o *Op) error {
	s, ok := specs[o.Name]
	if !ok {
		return fmt.Errorf("stablehlo.%s: unknown operation", o.Name)
	}
	if err := s.shape(o); err != nil {
		return err
	}
	if s.infer == nil && len(o.Results) != 1 {
		return fmt.Errorf("stablehlo.%s: %d results, expected 1", o.Name, len(o.Results))
	}
	if s.infer != nil {
		want, err := s.infer(o)
		if err != nil {
			return fmt.Errorf("stablehlo.%s: %w", o.Name, err)
		}
		if len(want) != len(o.Results) {
			return fmt.Errorf("stablehlo.%s: %d results, expected %d", o.Name, len(o.Results), len(want))
		}
		for i, t := range want {
			u := o.Results[i].Type
			if !slices.Equal(u.Dims, t.Dims) || u.Elem != t.Elem && s.fits == nil {
				return fmt.Errorf("stablehlo.%s: result %d is %s, expected %s", o.Name, i, u, t)
			}
		}
	}
	if s.fits != nil {
		if err := s.fits(o); err != nil {
			return fmt.Errorf("stablehlo.%s: %w", o.Name, err)
		}
	}
	if err := checkBounds(o); err != nil {
		return fmt.Errorf("stablehlo.%s: %w", o.Name, err)
	}
	return nil
}

// same is the spec of an elementwise operation: all operands and the result have one type.
func same(n int, class func(array.DType) bool) spec {
	return spec{in: n, alike: true, infer: func(o *Op) ([]Type, error) {
		t := o.Operands[0].Type
		if !class(t.Elem) {
			return nil, errors.New("element type " + t.Elem.String() + " is not taken")
		}
		for i, v := range o.Operands {
			if !v.Type.Equal(t) {
				return nil, fmt.Errorf("operand %d is %s, operand 0 is %s: types must be equal", i, v.Type, t)
			}
		}
		return []Type{t}, nil
	}}
}

func inferCompare(o *Op) ([]Type, error) {
	x, y := o.Operands[0].Type, o.Operands[1].Type
	if !x.Equal(y) {
		return nil, fmt.Errorf("compares %s and %s: types must be equal", x, y)
	}
	dir, _ := o.Get("comparison_direction").(Enum)
	if dir.Kind != "comparison_direction" || !slices.Contains([]string{"EQ", "NE", "LT", "LE", "GT", "GE"}, dir.Word) {
		return nil, errors.New("comparison_direction is " + dir.Word)
	}
	kind, given := o.Get("compare_type").(Enum)
	want := comparison(x.Elem)
	if given && (kind.Kind != "comparison_type" || kind.Word != want && (kind.Word != "TOTALORDER" || !x.Elem.IsFloat())) {
		return nil, fmt.Errorf("compare_type is %s, %s are %s", kind.Word, x.Elem, want)
	}
	return []Type{x.As(array.Bool)}, nil
}

// comparison is the type of comparisons that an element type has.
func comparison(d array.DType) string {
	switch {
	case d.IsFloat():
		return "FLOAT"
	case d.IsSigned():
		return "SIGNED"
	}
	return "UNSIGNED"
}

func inferSelect(o *Op) ([]Type, error) {
	p, x, y := o.Operands[0].Type, o.Operands[1].Type, o.Operands[2].Type
	if p.Elem != array.Bool || p.Rank() > 0 && !slices.Equal(p.Dims, x.Dims) {
		return nil, fmt.Errorf("pred is %s, expected i1, of no dimensions or those of %s", p, x)
	}
	if !x.Equal(y) {
		return nil, fmt.Errorf("chooses between %s and %s: types must be equal", x, y)
	}
	return []Type{x}, nil
}

func inferFinite(o *Op) ([]Type, error) {
	x := o.Operands[0].Type
	if !x.Elem.IsFloat() {
		return nil, errors.New("operand is no float")
	}
	return []Type{x.As(array.Bool)}, nil
}

func sameDims(o *Op) error {
	x, r := o.Operands[0].Type, o.Results[0].Type
	if !slices.Equal(x.Dims, r.Dims) {
		return fmt.Errorf("operand is %s, result %s: sizes must be equal", x, r)
	}
	return nil
}

func fitsBitcast(o *Op) error {
	x, r := o.Operands[0].Type, o.Results[0].Type
	if x.Elem.Size() != r.Elem.Size() || !isNumber(x.Elem) || !isNumber(r.Elem) {
		return fmt.Errorf("reads %s as %s: widths must be equal", x.Elem, r.Elem)
	}
	return sameDims(o)
}

func inferConstant(o *Op) ([]Type, error) {
	d := o.Get("value").(Dense)
	if n := d.Type.Len(); len(d.Bits) != n && len(d.Bits) != 1 {
		return nil, fmt.Errorf("value has %d elements, its type %s has %d", len(d.Bits), d.Type, n)
	}
	return []Type{d.Type}, nil
}

func fitsIota(o *Op) error {
	r, dim := o.Results[0].Type, o.Int("iota_dimension")
	if dim < 0 || dim >= r.Rank() || !isNumber(r.Elem) {
		return fmt.Errorf("iota_dimension is %d, the result %s", dim, r)
	}
	return nil
}
