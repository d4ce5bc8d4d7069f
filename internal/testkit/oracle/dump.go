package oracle

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/internal/generators/opsrc"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
	"github.com/gofx-dev/gofx/shape"
)

// Call is one call of an operator, known by its Key.
type Call struct {
	Op  *op.Op
	Key string
	op.Sample
}

// String describes the call in one line.
func (c Call) String() string {
	s := c.Key + " " + c.Op.Codec().Print(c.Attrs)
	for i, a := range c.In {
		if i > 0 {
			s += ","
		}
		if a == nil {
			s += " absent"
			continue
		}
		s += " " + array.Describe(a.DType(), a.Shape())
	}
	return s
}

// Samples returns the samples of all records.
func Samples() (all []Call) {
	for _, o := range api.Ops() {
		for i, s := range o.Samples() {
			all = append(all, Call{o, Key(o, i), s})
		}
	}
	return all
}

// entry is a call in samples.json.
type entry struct {
	Op, Torch, Class, Key, Name, Fingerprint string
	Operands                                 []string // as op.Args has them
	Attrs                                    map[string]any
	In                                       []*string // names in inputs.safetensors, null for absent operands
	Seeds                                    []*string `json:",omitempty"` // so, of a gradient
}

// Dump writes calls to a folder, for oracle.py: samples.json lists them,
// inputs.safetensors holds their operands.
func Dump(dir string, calls []Call) error { return dump(dir, calls, nil) }

// dump writes calls, and seeds of their results where there are some.
func dump(dir string, calls []Call, seeds [][]*array.Array) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	sources, err := opsrc.Load()
	if err != nil {
		return err
	}
	all := make([]entry, len(calls))
	var arrays []safetensors.Named
	for i, c := range calls {
		e := newEntry(c.Op, sources[c.Op], c.Attrs)
		e.Key, e.Name, e.Fingerprint = c.Key, c.Name, Fingerprint(c.Op, c.Sample)
		put := func(prefix string, list []*array.Array) []*string {
			names := make([]*string, len(list))
			for k, a := range list {
				if a != nil {
					name := prefix + strconv.Itoa(k)
					names[k] = &name
					arrays = append(arrays, safetensors.Named{Name: name, Array: array.Contiguous(a)})
				}
			}
			return names
		}
		e.In = put(e.Key+"/", c.In)
		if seeds != nil {
			e.Seeds = put(e.Key+"/seed/", seeds[i])
		}
		all[i] = e
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "samples.json"), text, 0o644); err != nil {
		return err
	}
	return writeTensors(filepath.Join(dir, "inputs.safetensors"), arrays)
}

// newEntry describes a call of an operator with attributes.
func newEntry(o *op.Op, s opsrc.Source, attrs any) entry {
	e := entry{Op: o.Name, Torch: s.Torch, Operands: operands(o), Class: o.Class.String(), Attrs: map[string]any{}, In: []*string{}}
	for _, f := range o.Codec().Fields(attrs) {
		e.Attrs[f.Name] = plain(f.Value)
	}
	return e
}

// operands returns the operands that op.Args was made of.
func operands(o *op.Op) []string {
	names := make([]string, len(o.In))
	for i, in := range o.In {
		switch names[i] = in.Name; {
		case in.Optional:
			names[i] += "?"
		case in.Variadic:
			names[i] += "..."
		}
	}
	return names
}

// plain turns an attribute into a value that JSON can hold; numbers that it
// cannot are strings that Python's float reads.
func plain(v any) any {
	switch v := v.(type) {
	case float64:
		return number(v)
	case array.DType:
		if v == array.Invalid {
			return nil
		}
		return v.String()
	case op.Ints:
		return v.Slice()
	case op.Floats:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = number(v.At(i))
		}
		return out
	case op.Scalar:
		switch {
		case !v.Present():
			return nil
		case v.IsFloat():
			return map[string]any{"float": number(v.Float64())}
		case v.IsInt():
			return v.Int64()
		}
		return v.Int64() != 0
	case shape.Dim:
		n, _ := v.Int()
		return n
	case shape.Dims:
		out := make([]int, v.Len())
		for i, d := range v.Slice() {
			out[i], _ = d.Int()
		}
		return out
	}
	return v
}

// number writes a float: JSON has no NaN, and Python reads -0 as the integer 0.
func number(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) || f == 0 && math.Signbit(f) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return f
}
