package op

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// outDTypes returns the element types of an elementwise operator's results.
func (o *Op) outDTypes(attrs any, in []shape.Type) ([]array.DType, error) {
	for _, t := range in {
		if t.Kind() == shape.Tensor && t.DType() == array.Invalid {
			return []array.DType{array.Invalid}, nil
		}
	}
	var buf [96]byte
	key := o.dtypeKey(buf[:0], attrs, in)
	if dts, ok := o.dtypes.get(key); ok {
		return dts, nil
	}
	_, outs, err := o.buildExpr(attrs, in)
	if err != nil {
		return nil, err
	}
	dts := make([]array.DType, len(outs))
	for i, v := range outs {
		dts[i] = v.DType()
	}
	o.dtypes.put(string(key), dts)
	return dts, nil
}

// dtypeKey encodes what the element types of an elementwise call follow from:
// the attributes, and each operand's element type, presence and whether it has
// dimensions (which promotion looks at).
func (o *Op) dtypeKey(key []byte, attrs any, in []shape.Type) []byte {
	for _, t := range in {
		key = append(key, operandKey(t.DType(), t.Kind() == shape.Tensor, t.Rank() == 0))
	}
	return o.attrsKey(key, attrs)
}

func operandKey(d array.DType, there, scalar bool) byte {
	b := byte(d) << 2
	if there {
		b |= 1
	}
	if scalar {
		b |= 2
	}
	return b
}

func (o *Op) attrsKey(key []byte, attrs any) []byte {
	if len(o.codec.fields) > 0 {
		key = o.codec.AppendKey(append(key, 0xff), attrs, true)
	}
	return key
}

// cache remembers what follows from a dtypeKey: building an expression is most of
// what inferring a type costs, compiling it most of what computing a few elements does.
type cache[V any] struct {
	mu sync.RWMutex
	m  map[string]V
}

// maxCached bounds a cache: attributes such as scalars may take any value.
const maxCached = 256

func (c *cache[V]) get(key []byte) (v V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok = c.m[string(key)]
	return v, ok
}

func (c *cache[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= maxCached {
		c.m = map[string]V{}
	}
	c.m[key] = v
}

// knownStep returns the step of an elementwise operator that such a call has had before,
// and the shape of the results, which all operands have. It returns nil where more is to
// be found out about the call.
func (o *Op) knownStep(attrs any, in []*array.Array) (*kernel.Elementwise, []int) {
	if o.expr == nil || o.infer != nil || o.Variadic() || len(in) > len(o.In) {
		return nil, nil
	}
	var buf [96]byte
	key := buf[:0]
	var shape []int
	first := true
	for _, a := range in {
		if a == nil {
			key = append(key, operandKey(array.Invalid, false, false))
			continue
		}
		if !first && !slices.Equal(shape, a.Shape()) {
			return nil, nil
		}
		first, shape = false, a.Shape()
		key = append(key, operandKey(a.DType(), true, a.Rank() == 0))
	}
	if first {
		return nil, nil
	}
	e, _ := o.steps.get(o.attrsKey(key, attrs))
	return e, shape
}

// elementwise returns the step of an elementwise operator. Steps are plain data that
// nobody writes to.
func (o *Op) elementwise(attrs any, in []shape.Type) (*kernel.Elementwise, error) {
	var buf [96]byte
	key := o.dtypeKey(buf[:0], attrs, in)
	if s, ok := o.steps.get(key); ok {
		return s, nil
	}
	b, outs, err := o.buildExpr(attrs, in)
	if err != nil {
		return nil, err
	}
	s := &kernel.Elementwise{Program: b.Compile(outs...)}
	o.steps.put(string(key), s)
	return s, nil
}

// buildExpr builds the scalar expression of an elementwise operator for operands
// of the given element types.
func (o *Op) buildExpr(attrs any, in []shape.Type) (builder *expr.Builder, outs []expr.Value, err error) {
	defer func() {
		var e *diag.Error
		if errors.As(err, &e) && e.Code == DTypeMismatch {
			e.Msg = o.describe(in) + ": " + e.Msg
		}
	}()
	defer diag.Catch(&err)
	builder = expr.NewBuilder()
	return builder, o.expr(builder, attrs, in), nil
}

// converted returns the operands as Expr gets them: in the element type that is computed in.
func (o *Op) converted(b *expr.Builder, attrs any, in []shape.Type) []expr.Value {
	x := make([]expr.Value, len(o.In))
	compute := array.Invalid
	if o.promote != nil {
		compute = o.promote(attrs, in)
	} else {
		compute = Promote(in)
	}
	for i, t := range in {
		if t.Kind() != shape.Tensor {
			continue
		}
		v := b.Input(i, t.DType())
		if compute != array.Invalid && t.DType() != compute {
			v = b.Cast(v, compute)
		}
		if i < len(x) {
			x[i] = v
		} else {
			x = append(x, v)
		}
	}
	return x
}

// describe says what the operands are: "x is i64, other is f32".
func (o *Op) describe(in []shape.Type) string {
	var list []string
	for i, t := range in {
		if t.Kind() == shape.Tensor {
			list = append(list, o.In[min(i, len(o.In)-1)].Name+" is "+t.DType().String())
		}
	}
	return strings.Join(list, ", ")
}

// Expression returns the scalar meaning of a call of an elementwise operator, input i
// being operand i; in are the operands' types, the zero Type for absent ones. It is
// an error when the operator is not Scalar or refuses the operands.
func (o *Op) Expression(attrs any, in []shape.Type) (expr.Graph, error) {
	if o.expr == nil {
		return expr.Graph{}, diag.New(NoMeaning, o.Name+" has no scalar expression")
	}
	attrs, err := o.codec.Given(attrs)
	if err != nil {
		return expr.Graph{}, err
	}
	b, outs, err := o.buildExpr(attrs, in)
	if err != nil {
		return expr.Graph{}, err
	}
	return b.Graph(outs...), nil
}
