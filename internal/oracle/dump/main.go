// Command dump writes every sample of every operator to a folder, for oracle.py:
// samples.json lists the calls, inputs.safetensors holds their operands.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/internal/oracle"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std" // the operators to dump
	"github.com/gofx-dev/gofx/shape"
)

// sample is one entry of samples.json.
type sample struct {
	Op, Class, Key, Name, Fingerprint string
	Attrs                             map[string]any
	In                                []*string // names in inputs.safetensors, null for absent operands
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: dump FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "dump:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var all []sample
	var arrays []safetensors.Named
	for _, o := range oracle.Ops() {
		for i, s := range o.Samples() {
			e := sample{Op: o.Name, Class: o.Class.String(), Key: oracle.Key(o, i), Name: s.Name,
				Fingerprint: oracle.Fingerprint(o, s), Attrs: map[string]any{}, In: make([]*string, len(s.In))}
			for _, f := range o.Codec().Fields(s.Attrs) {
				e.Attrs[f.Name] = plain(f.Value)
			}
			for k, a := range s.In {
				if a != nil {
					name := e.Key + "/" + strconv.Itoa(k)
					e.In[k] = &name
					arrays = append(arrays, safetensors.Named{Name: name, Array: array.Contiguous(a)})
				}
			}
			all = append(all, e)
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "samples.json"), text, 0o644); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, arrays, nil); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "inputs.safetensors"), b.Bytes(), 0o644)
}

// plain turns an attribute into what JSON can hold; numbers that it cannot are
// strings that Python's float reads.
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

func number(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return f
}
