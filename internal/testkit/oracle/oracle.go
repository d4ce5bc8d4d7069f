// Package oracle compares the operators with PyTorch.
// Calls are written to files (Dump), a Python script computes them with PyTorch
// (oracle.py, by the expression next to each operator in op/std), and
// the results are read back (Load) and judged (Judge): the same types, shapes
// and values, or refused by both. The operator's record must name each
// difference; docs/ops.md lists them.
//
// An expression is one line of Python in a comment at the operator's variable,
// which is in no binary:
//
//	//gofx:torch F.gelu(x, approximate=approximate or "none")
//
// It names operands and attributes as the record does (an attribute of an operand's
// name is the number that may stand for the operand; dtype is a torch.dtype), and may
// call torch, F, math, philox and the functions of helpers.py. An operator without
// attributes that PyTorch calls by the same name needs none.
//
// The samples of the records are compared on every change, with results that are
// stored next to the operators, so that no Python is needed. When samples change:
//
//	go run ./internal/testkit/oracle/dump /tmp/samples
//	/usr/bin/python3 internal/testkit/oracle/oracle.py /tmp/samples op/std/testdata/torch
//
// A sample is known by its operator, its place in the operator's list and a
// fingerprint of attributes and operands, so that a result which belongs to an
// earlier version of the sample is recognised.
//
// TestFresh compares random calls (Fresh) where Debian's python3-torch is
// installed: a few of each operator on every change, and 30 with GOFX_NIGHTLY=1,
// which draws other calls every day. To repeat a run, give its seed:
//
//	GOFX_ORACLE_SEED=20240131 GOFX_ORACLE_SAMPLES=30 GOFX_ORACLE_OPS=conv go test ./internal/testkit/oracle -run TestFresh
//
// DumpNetwork writes the calls, weights and inputs of a whole graph, and network.py
// makes a PyTorch module of them: bench compares with the same weights, and
// no network is written a second time.
//
// The same expressions give gradients, by autograd: AskGradients of calls, and
// AskNetworkGradient of networks. Tests of package passes/grad compare with them.
package oracle

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/op"
)

// Key names sample i of an operator.
func Key(o *op.Op, i int) string { return o.Name + "/" + strconv.Itoa(i) }

// Fingerprint identifies the computation of a sample: attributes, element
// types, shapes and values of the operands.
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
	if a.Len() == 0 {
		return nil
	}
	c := array.Contiguous(a)
	size := c.DType().Size()
	return c.Storage().Bytes()[c.Offset()*size : (c.Offset()+c.Len())*size]
}

// Outcome is PyTorch's outcome of a call.
type Outcome string

// The outcomes.
const (
	Computed  Outcome = ""
	Noted     Outcome = "note"      // computed by an equivalent expression: PyTorch refuses the call as it is
	Refused   Outcome = "refused"   // PyTorch raises an error
	Undefined Outcome = "undefined" // PyTorch's result is undefined or depends on the machine
	Lacks     Outcome = "lacks"     // this PyTorch cannot compute it, though it has a meaning there
)

// Golden is PyTorch's outcome of one call.
type Golden struct {
	Fingerprint string
	Outcome     Outcome
	Text        string         // the error or the reason
	Results     []*array.Array // of Computed and Noted
	Native      []*array.Array // the results of narrow floats before they are computed in f32; nil for others
	Exact       []*array.Array // the same from operands of f64; nil where that says nothing more
	Scale       []*array.Array // the same from the operands' magnitudes
}

// Load reads the results that oracle.py wrote to a folder, by Key.
func Load(dir string) (map[string]Golden, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	if err != nil {
		return nil, err
	}
	out := map[string]Golden{}
	for _, path := range paths {
		if err := loadFile(path, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func loadFile(path string, out map[string]Golden) error {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return err
	}
	for key, print := range f.Metadata() {
		name, ok := strings.CutPrefix(key, "sample ")
		if !ok {
			continue
		}
		g := Golden{Fingerprint: print}
		for _, o := range []Outcome{Noted, Refused, Undefined, Lacks} {
			if text, ok := f.Metadata()[string(o)+" "+name]; ok {
				g.Outcome, g.Text = o, text
			}
		}
		if g.Results, err = tensors(f, name); err != nil {
			return err
		}
		for kind, to := range map[string]*[]*array.Array{"native": &g.Native, "exact": &g.Exact, "scale": &g.Scale} {
			if *to, err = tensors(f, name+"/"+kind); err != nil {
				return err
			}
		}
		out[name] = g
	}
	return nil
}

// tensors reads NAME/0, NAME/1 and so on.
func tensors(f *safetensors.File, name string) (out []*array.Array, err error) {
	for k := 0; ; k++ {
		full := name + "/" + strconv.Itoa(k)
		if _, _, _, _, ok := f.Info(full); !ok {
			return out, nil
		}
		a, err := f.Get(full)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
}
