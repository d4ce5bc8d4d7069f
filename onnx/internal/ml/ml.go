package ml

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Rules are its operators on tensors of numbers. All but trees and the coupling of
// probabilities are written with op/std.
var Rules = map[string][]rule.Rule{
	"Scaler":                 rule.From(1, scaler),
	"Normalizer":             rule.From(1, normalizer),
	"Binarizer":              rule.From(1, binarizer),
	"Imputer":                rule.From(1, imputer),
	"ArrayFeatureExtractor":  rule.From(1, featureExtractor),
	"FeatureVectorizer":      rule.From(1, featureVectorizer),
	"OneHotEncoder":          rule.From(1, oneHotEncoder),
	"LabelEncoder":           {{Since: 1, Build: oldLabelEncoder}, {Since: 2, Build: func(c *rule.Call) []op.Value { return labelEncoder(c, false) }}, {Since: 4, Build: func(c *rule.Call) []op.Value { return labelEncoder(c, true) }}},
	"LinearRegressor":        rule.From(1, linearRegressor),
	"LinearClassifier":       rule.From(1, linearClassifier),
	"SVMRegressor":           rule.From(1, svmRegressor),
	"SVMClassifier":          rule.From(1, svmClassifier),
	"TreeEnsembleRegressor":  rule.From(1, treeRegressor),
	"TreeEnsembleClassifier": rule.From(1, treeClassifier),
	"TreeEnsemble":           rule.From(5, treeEnsemble),
}

// Reading attributes.

// texts returns an attribute of strings.
func texts(c *rule.Call, name string) []string {
	a := c.Attr(name, pb.AttrStrings)
	if a == nil {
		return nil
	}
	s := make([]string, len(a.Strings))
	for i, b := range a.Strings {
		s[i] = string(b)
	}
	return s
}

// tensorAttr returns an attribute that is a tensor, nil when it is absent.
func tensorAttr(c *rule.Call, name string) *array.Array {
	a := c.Attr(name, pb.AttrTensor)
	if a == nil || a.T == nil {
		return nil
	}
	v, err := modelfile.ArrayOf(a.T, c.Draft.Data)
	if err != nil {
		panic(err)
	}
	return v
}

// tensorFloats returns the elements of a tensor of floats.
func tensorFloats(c *rule.Call, name string) []float64 {
	a := tensorAttr(c, name)
	if a == nil {
		return nil
	}
	if !a.DType().IsFloat() {
		panic(diag.New(spec.CodeType, "attribute "+name+" is "+array.Describe(a.DType(), a.Shape())+", expected floats"))
	}
	f := make([]float64, a.Len())
	for i := range f {
		f[i] = array.Float64At(a, i)
	}
	return f
}

// floatsOr returns a list of floats, or the tensor of doubles that stands for it.
func floatsOr(c *rule.Call, name string) []float64 {
	f := c.Floats(name)
	if g := tensorFloats(c, name+"_as_tensor"); g != nil {
		if f != nil {
			panic(diag.New(spec.CodeModel, "attributes "+name+" and "+name+"_as_tensor are both there, expected one"))
		}
		return g
	}
	return f
}

// lengths requires lists to have as many elements as the first.
func lengths(c *rule.Call, n int, first string, lists map[string]int) {
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range lists {
			if !yield(name) {
				return
			}
		}
	}) {
		if lists[name] != n {
			panic(diag.New(spec.CodeModel, "attribute "+name+" has "+strconv.Itoa(lists[name])+" elements and "+first+" "+strconv.Itoa(n)+", expected as many"))
		}
	}
}

// Building.

// tableOf is a constant of the node.
func tableOf(c *rule.Call, name string, a *array.Array) op.Value {
	if c.Folding {
		return spec.Constants{A: []*array.Array{a}}
	}
	of := c.Node.Name
	if of == "" && len(c.Node.Outputs) > 0 {
		of = c.Node.Outputs[len(c.Node.Outputs)-1]
	}
	return c.Draft.Node(c.Cursor, &rule.Datum{Name: of + "." + name, Arr: a})
}

// vector is a constant of floats.
func vector(c *rule.Call, name string, d array.DType, f []float64, dims ...int) op.Value {
	if len(dims) == 0 {
		dims = []int{len(f)}
	}
	a := array.New(d, dims...)
	for i, v := range f {
		array.SetFloat64At(a, i, v)
	}
	return tableOf(c, name, a)
}

// to converts where it has to.
func to(c *rule.Call, d array.DType, x op.Value) op.Value {
	if x.Type().DType() == d {
		return x
	}
	return c.Do(std.Cast, std.CastAttrs{DType: d}, x)
}

// features returns input 0 as a matrix: a vector is one row.
func features(c *rule.Call) op.Value {
	x := c.X(0)
	switch r := c.Rank(0); {
	case r == 1:
		return c.Do(std.Unsqueeze, std.DimAttrs{Dim: 0}, x)
	case r != 2:
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected a row of features for each case"))
	}
	return x
}

// floats32 is features in f32, as these operators compute.
func features32(c *rule.Call) op.Value {
	x := features(c)
	numeric(c, x)
	return to(c, array.F32, x)
}

func numeric(c *rule.Call, x op.Value) {
	if d := x.Type().DType(); d != array.Invalid && !d.IsFloat() && !d.IsInt() {
		panic(diag.New(spec.CodeType, "the input is "+x.Type().String()+", expected numbers"))
	}
}

// ofFeatures is an attribute with one number, or with one for each feature.
func ofFeatures(c *rule.Call, name string, f []float64, x op.Value) {
	n := x.Type().Dim(-1)
	if k, known := n.Int(); known && len(f) != 1 && len(f) != k {
		panic(diag.New(spec.CodeModel, "attribute "+name+" has "+strconv.Itoa(len(f))+" elements, expected 1 or "+strconv.Itoa(k)+", the number of features"))
	}
}

// scaler shifts and scales features.
func scaler(c *rule.Call) []op.Value {
	x := c.X(0)
	numeric(c, x)
	c.Rank(0)
	if c.Rank(0) == 0 {
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected features"))
	}
	offset, scale := c.Floats("offset"), c.Floats("scale")
	if x.Type().DType() != array.F64 {
		x = to(c, array.F32, x)
	}
	d := x.Type().DType()
	for _, step := range []struct {
		name string
		f    []float64
		o    *op.Op
	}{{"offset", offset, std.Sub}, {"scale", scale, std.Mul}} {
		if len(step.f) == 0 {
			continue
		}
		ofFeatures(c, step.name, step.f, x)
		x = c.Do(step.o, nil, x, vector(c, step.name, d, step.f))
	}
	return []op.Value{to(c, array.F32, x)}
}

// normalizer divides rows by their greatest element, or by their length.
func normalizer(c *rule.Call) []op.Value {
	norm := c.OneOf("norm", "MAX", "L1", "L2")
	x := c.X(0)
	numeric(c, x)
	if r := c.Rank(0); r != 1 && r != 2 {
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected one or two dimensions"))
	}
	x = to(c, array.F32, x)
	a := std.ReduceAttrs{Dim: op.IntList(-1), KeepDim: true}
	var by op.Value
	switch norm {
	case "MAX":
		by = c.Do(std.Amax, a, x)
	case "L1":
		by = c.Do(std.Sum, a, c.Do(std.Abs, nil, x))
	default:
		by = c.Do(std.Sqrt, nil, c.Do(std.Sum, a, c.Do(std.Mul, nil, x, x)))
	}
	zero := c.Do(std.Eq, std.BinaryAttrs{Other: op.Float(0)}, by)
	one := vector(c, "one", array.F32, []float64{1}, 1)
	return c.One(std.Div, nil, x, c.Do(std.Where, nil, zero, one, by))
}

func binarizer(c *rule.Call) []op.Value {
	x := c.X(0)
	numeric(c, x)
	d := x.Type().DType()
	if !d.IsFloat() {
		x = to(c, array.F32, x)
	}
	over := c.Do(std.Gt, std.BinaryAttrs{Other: op.Float(c.Float("threshold", 0))}, x)
	return []op.Value{to(c, d, over)}
}

// imputer puts numbers in the places of one number, or of NaN.
func imputer(c *rule.Call) []op.Value {
	x := c.X(0)
	numeric(c, x)
	d := x.Type().DType()
	var with []float64
	var ints []int
	var hit op.Value
	if d.IsFloat() {
		with = c.Floats("imputed_value_floats")
		c.Ignore("imputed_value_int64s", "replaced_value_int64")
		old := float64(float32(c.Float("replaced_value_float", 0)))
		if math.IsNaN(old) {
			hit = c.Do(std.Isnan, nil, x)
		} else {
			hit = c.Do(std.Eq, std.BinaryAttrs{Other: op.Float(old)}, x)
		}
	} else {
		ints = c.List("imputed_value_int64s")
		with = make([]float64, len(ints))
		c.Ignore("imputed_value_floats", "replaced_value_float")
		hit = c.Do(std.Eq, std.BinaryAttrs{Other: op.Int(int64(c.Int("replaced_value_int64", 0)))}, x)
	}
	if len(with) == 0 {
		panic(diag.New(spec.CodeModel, "there is no number to put in the place of missing ones, expected an attribute with such"))
	}
	if c.Rank(0) == 0 {
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected features"))
	}
	ofFeatures(c, "imputed_value", with, x)
	fill := vector(c, "imputed", d, with)
	if ints != nil {
		fill = to(c, d, labelsOf(c, "imputed", ints))
	}
	return c.One(std.Where, nil, hit, fill, x)
}

// featureExtractor takes columns.
func featureExtractor(c *rule.Call) []op.Value {
	x, at := c.X(0), c.X(1)
	if t := c.Type(1).DType(); t != array.I64 && t != array.I32 {
		panic(diag.New(spec.CodeType, "the indices are "+c.Type(1).String()+", expected integers"))
	}
	at = c.Do(std.Flatten, std.FlattenAttrs{EndDim: -1}, to(c, array.I64, at))
	switch c.Rank(0) {
	case 0:
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected features"))
	case 1:
		x = c.Do(std.Unsqueeze, std.DimAttrs{Dim: 0}, x)
	}
	return c.One(std.IndexSelect, std.DimAttrs{Dim: -1}, x, at)
}

// featureVectorizer puts inputs side by side, each in as many columns as it is said to have.
func featureVectorizer(c *rule.Call) []op.Value {
	widths := c.List("inputdimensions")
	if len(c.In) == 0 || len(widths) != len(c.In) {
		panic(diag.New(spec.CodeModel, "inputdimensions has "+strconv.Itoa(len(widths))+" elements for "+strconv.Itoa(len(c.In))+" inputs, expected one for each"))
	}
	parts := make([]op.Value, len(c.In))
	for i, w := range widths {
		one := *c
		one.In = c.In[i : i+1]
		x := features32(&one)
		n, known := x.Type().Dim(1).Int()
		if !known || w < 1 || w > mostColumns {
			panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+c.Type(i).String()+", and inputdimensions says "+strconv.Itoa(w)+" columns, expected a known number of them"))
		}
		switch {
		case n > w:
			x = c.Do(std.Slice, std.SliceAttrs{Dim: 1, Stop: shape.Const(w)}, x)
		case n < w:
			x = c.Do(std.Pad, std.PadAttrs{Pad: shape.ConstDims(0, w-n)}, x)
		}
		parts[i] = x
	}
	return c.One(std.Cat, std.DimAttrs{Dim: 1}, parts...)
}

// oneHotEncoder marks the category that an element is. Without zeros, elements of no
// category are errors when the model runs: rows of a table that has none for them.
func oneHotEncoder(c *rule.Call) []op.Value {
	if s := texts(c, "cats_strings"); len(s) > 0 {
		panic(stringsRefused("the categories"))
	}
	cats := c.List("cats_int64s")
	if len(cats) == 0 {
		panic(diag.New(spec.CodeModel, "there are no categories, expected cats_int64s"))
	}
	zeros := c.Flag("zeros", true)
	x := c.X(0)
	numeric(c, x)
	same := c.Do(std.Eq, nil, c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, to(c, array.I64, x)), labelsOf(c, "categories", cats))
	if zeros {
		return []op.Value{to(c, array.F32, same)}
	}
	n := len(cats)
	if n > spec.FoldBytes/64 {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(n)+" categories and no zeros for others, expected fewer"))
	}
	unit := array.New(array.F32, n, n)
	for i := range n {
		array.SetFloat64At(unit, i*n+i, 1)
	}
	any := c.Do(std.Amax, std.ReduceAttrs{Dim: op.IntList(-1)}, to(c, array.I64, same))
	place := c.Do(std.Argmax, std.ArgAttrs{Dim: op.IntList(-1)}, to(c, array.I64, same))
	beyond := tableOf(c, "none", array.Scalar(int64(n)))
	place = c.Do(std.Where, nil, to(c, array.Bool, any), place, beyond)
	return c.One(std.Embedding, nil, place, tableOf(c, "units", unit))
}

// labelsOf is a constant of integers.
func labelsOf(c *rule.Call, name string, list []int) op.Value {
	a := array.New(array.I64, len(list))
	for i, v := range list {
		array.Data[int64](a)[i] = int64(v)
	}
	return tableOf(c, name, a)
}

func stringsRefused(what string) *diag.Error {
	return diag.New(spec.CodeType, what+" are strings, expected integers").
		WithHint("there are no tensors of strings; train or export the model with integers for them, and keep the names next to it")
}

func oldLabelEncoder(*rule.Call) []op.Value { panic(stringsRefused("the classes")) }

// labelEncoder replaces keys by values, which are numbers of their own. From set 4 on NaN
// is a key like others; before nothing is equal to it.
func labelEncoder(c *rule.Call, nan bool) []op.Value {
	for _, name := range []string{"keys_strings", "values_strings"} {
		if texts(c, name) != nil {
			panic(stringsRefused(name))
		}
	}
	c.Ignore("default_string")
	keys, values := labelTable(c, "keys"), labelTable(c, "values")
	if keys == nil || values == nil || keys.Len() != values.Len() || keys.Len() == 0 {
		panic(diag.New(spec.CodeModel, "keys and values are not as many, or there are none"))
	}
	other := array.New(values.DType(), 1)
	switch d := tensorAttr(c, "default_tensor"); {
	case d != nil && d.Len() == 1 && d.DType() == values.DType():
		array.Copy(other, array.Reshape(d, 1))
	case d != nil:
		panic(diag.New(spec.CodeModel, "default_tensor is "+array.Describe(d.DType(), d.Shape())+", expected one "+values.DType().String()))
	case values.DType().IsFloat():
		array.SetFloat64At(other, 0, float64(float32(c.Float("default_float", math.Copysign(0, -1)))))
	default:
		array.SetInt64At(other, 0, int64(c.Int("default_int64", -1)))
	}
	c.Ignore("default_float", "default_int64")
	x := c.X(0)
	if d := x.Type().DType(); d != keys.DType() && d != array.Invalid {
		panic(diag.New(spec.CodeType, "the input is "+x.Type().String()+" and the keys are "+keys.DType().String()+", expected one element type"))
	}
	return []op.Value{lookUp(c, x, keys, values, other, nan)}
}

// labelTable reads keys or values.
func labelTable(c *rule.Call, name string) *array.Array {
	if a := tensorAttr(c, name+"_tensor"); a != nil {
		if !a.DType().IsFloat() && !a.DType().IsInt() {
			panic(diag.New(spec.CodeType, name+"_tensor is "+array.Describe(a.DType(), a.Shape())+", expected numbers"))
		}
		return array.Reshape(array.Contiguous(a), a.Len())
	}
	if f := c.Floats(name + "_floats"); f != nil {
		a := array.New(array.F32, len(f))
		for i, v := range f {
			array.SetFloat64At(a, i, v)
		}
		return a
	}
	if n := c.List(name + "_int64s"); n != nil {
		a := array.New(array.I64, len(n))
		for i, v := range n {
			array.Data[int64](a)[i] = int64(v)
		}
		return a
	}
	return nil
}

// lookUp finds keys by halving; the first of equal keys holds.
func lookUp(c *rule.Call, x op.Value, keys, values, other *array.Array, nanIsKey bool) op.Value {
	order := make([]int, 0, keys.Len())
	nan := -1
	for i := range keys.Len() {
		if keys.DType().IsFloat() && math.IsNaN(array.Float64At(keys, i)) {
			if nan < 0 && nanIsKey {
				nan = i
			}
			continue
		}
		order = append(order, i)
	}
	compare := func(a, b int) int {
		if keys.DType().IsFloat() {
			return cmp.Compare(array.Float64At(keys, a), array.Float64At(keys, b))
		}
		return cmp.Compare(array.Int64At(keys, a), array.Int64At(keys, b))
	}
	slices.SortStableFunc(order, compare)
	order = slices.CompactFunc(order, func(a, b int) bool { return compare(a, b) == 0 })
	v := tableOf(c, "other", array.Reshape(other))
	if n := len(order); n > 0 {
		sorted := tableOf(c, "keys", taken(keys, order))
		place := c.Do(std.Clamp, std.ClampAttrs{Max: op.Int(int64(n - 1))}, c.Do(std.Searchsorted, nil, sorted, x))
		pick := func(name string, from *array.Array) op.Value {
			return c.Do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(-1)}, c.Do(std.Embedding, nil, place, tableOf(c, name, asColumn(taken(from, order)))))
		}
		v = c.Do(std.Where, nil, c.Do(std.Eq, nil, pick("found", keys), x), pick("values", values), v)
	}
	if nan >= 0 {
		v = c.Do(std.Where, nil, c.Do(std.Isnan, nil, x), tableOf(c, "nan", array.Reshape(taken(values, []int{nan}))), v)
	}
	return v
}

// taken are the elements of a vector at some places.
func taken(a *array.Array, at []int) *array.Array {
	out := array.New(a.DType(), len(at))
	for i, k := range at {
		array.Copy(array.Slice(out, 0, i, i+1, 1), array.Slice(a, 0, k, k+1, 1))
	}
	return out
}

// asColumn is a vector as a matrix.
func asColumn(a *array.Array) *array.Array { return array.Reshape(a, a.Len(), 1) }
