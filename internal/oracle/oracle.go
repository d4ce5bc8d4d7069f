// Package oracle connects the operators' samples with an implementation that is
// not ours: the samples are written to files (command dump), a Python script
// computes them with PyTorch (oracle.py), and the results are kept beside the
// operators, as op/std/testdata/torch, for a test that needs no Python.
//
//	go run ./internal/oracle/dump /tmp/samples
//	python3 internal/oracle/oracle.py /tmp/samples op/std/testdata/torch
//
// A sample is known by its operator, its place in the operator's list and a
// fingerprint of attributes and operands, so that a result which belongs to an
// earlier version of the sample is recognised.
package oracle

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/op"
)

// Key names sample i of an operator.
func Key(o *op.Op, i int) string { return o.Name + "/" + strconv.Itoa(i) }

// Fingerprint identifies what a sample computes: attributes, element types,
// shapes and values of the operands.
func Fingerprint(o *op.Op, s op.Sample) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s%s", o.Name, o.Codec().Print(s.Attrs))
	for _, a := range s.In {
		if a == nil {
			h.Write([]byte("|absent"))
			continue
		}
		fmt.Fprintf(h, "|%s%v", a.DType(), a.Shape())
		h.Write(Bytes(a))
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

// Bytes returns the elements of an array in row-major order.
func Bytes(a *array.Array) []byte {
	c := array.Contiguous(a)
	size := c.DType().Size()
	return c.Storage().Bytes()[c.Offset()*size : (c.Offset()+c.Len())*size]
}

// Ops returns the operators of op/std that have a meaning of their own.
func Ops() []*op.Op {
	return slices.DeleteFunc(op.All(), func(o *op.Op) bool { return o.Path != "" || o.AdHoc || o.Structural() })
}

// Golden is the results of one sample.
type Golden struct {
	Fingerprint string
	Results     []*array.Array // nil when Reason says why there are none
	Reason      string
}

// Load reads the results that oracle.py wrote to a folder, by Key.
func Load(dir string) (map[string]Golden, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	if err != nil {
		return nil, err
	}
	out := map[string]Golden{}
	for _, path := range paths {
		f, err := safetensors.ReadFile(path)
		if err != nil {
			return nil, err
		}
		reasons := map[string]string{}
		for key, text := range f.Metadata() {
			if name, ok := cut(key, "reason "); ok {
				reasons[name] = text
			}
		}
		for key, print := range f.Metadata() {
			name, ok := cut(key, "sample ")
			if !ok {
				continue
			}
			g := Golden{Fingerprint: print, Reason: reasons[name]}
			for k := 0; g.Reason == ""; k++ {
				full := name + "/" + strconv.Itoa(k)
				if _, _, _, _, ok := f.Info(full); !ok {
					break
				}
				a, err := f.Get(full)
				if err != nil {
					return nil, err
				}
				g.Results = append(g.Results, a)
			}
			out[name] = g
		}
	}
	return out, nil
}

func cut(s, prefix string) (string, bool) {
	if len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return "", false
}
