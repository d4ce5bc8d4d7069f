package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/gguf"
	"github.com/gofx-dev/gofx/bench/onnxpb"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/passes/quant"
)

// exported is a network as the peers read it: the calls for PyTorch, an ONNX file, a StableHLO
// program, and for a decoder a GGUF file.
type exported struct {
	dir     string         // network.json for PyTorch
	float   string         // that of the network in floats, where the one in dir is quantised
	feeds   []peers.Tensor // the inputs
	dynamic bool           // ranges are found in each run

	onnx, floatONNX string
	onnxErr         error
	mlir            string
	weights         []peers.Tensor // operands of the program, after the inputs
	mlirErr         error
	gguf            string
	past            *peers.Tensor // the tokens before the one that is decoded
}

// export writes a network into a folder; g is the form that peers are given.
func (w *network) export(dir string, c *Case, g *graph.Module) (*exported, error) {
	x := &exported{dir: dir, dynamic: c.Quant != nil && c.Quant.Global.Mode == quant.Dynamic}
	var err error
	if x.feeds, err = w.dump(dir, g); err != nil {
		return nil, err
	}
	x.onnx = filepath.Join(dir, "network.onnx")
	x.onnxErr = onnx.ExportFile(x.onnx, g, onnx.ExportOptions{})
	if x.dynamic {
		x.float = filepath.Join(dir, "float")
		x.floatONNX = filepath.Join(x.float, "network.onnx")
		err := os.Mkdir(x.float, 0o700)
		if err == nil {
			err = oracle.DumpNetwork(x.float, w.ready, w.arrays())
		}
		if err == nil {
			err = onnx.ExportFile(x.floatONNX, w.ready, onnx.ExportOptions{})
		}
		if err != nil {
			return nil, err
		}
	}
	x.mlirErr = x.stableHLO(w, c, g)
	if c.Decoder != nil {
		x.gguf = filepath.Join(dir, "network.gguf")
		if x.past, err = w.writeGGUF(x.gguf, c); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// stableHLO writes the program and its weights. It is that of the optimised graph: XLA and IREE
// take weights as operands, and cannot fold one into another themselves.
func (x *exported) stableHLO(w *network, c *Case, g *graph.Module) (err error) {
	if c.Quant == nil {
		if g, err = w.optimised(fx.Optimise()); err != nil {
			return err
		}
	}
	p, err := xla.Emit(g, lowering.Options{Shapes: w.dims})
	if err != nil {
		return err
	}
	x.mlir = filepath.Join(x.dir, "network.mlir")
	if err := os.WriteFile(x.mlir, []byte(p.String()), 0o600); err != nil {
		return err
	}
	name := filepath.Join(x.dir, "weights.bin")
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	offset := int64(0)
	for _, a := range p.Weights {
		data := oracle.Bytes(array.Contiguous(g.Param(a.Name).Value))
		if _, err := file.Write(data); err != nil {
			return errors.Join(err, file.Close())
		}
		x.weights = append(x.weights, peers.Tensor{Shape: a.Dims, DType: a.DType.String(), File: name, Offset: offset})
		offset += int64(len(data))
	}
	return file.Close()
}

// torchMode is a way of PyTorch to compute a network.
type torchMode struct {
	name, process, variant, dir string
	newest                      bool // 1.13 has no such thing
}

// torch lists the ways of PyTorch for a case.
func (x *exported) torch(c *Case) (list []torchMode) {
	switch {
	case c.Quant == nil:
		list = []torchMode{{name: "torch", process: "torch"}, {name: "torch-compile", process: "torch", variant: "compile", newest: true},
			{name: "torch-1.13", process: "torch-1.13"}, {name: "torch-1.13-jit", process: "torch-1.13", variant: "jit"},
			{name: "torch-xla", process: "torch-xla"}}
	case c.Quant.Global.Mode == quant.WeightOnly: // PyTorch would compute the reference form in floats, step by step
		return nil
	default:
		list = []torchMode{{name: "torch-int8", process: "torch", variant: "quantised"}, {name: "torch-1.13-int8", process: "torch-1.13", variant: "quantised"}}
	}
	for i := range list {
		list[i].dir = x.dir
	}
	if x.dynamic {
		list = append(list, torchMode{name: "torchao", process: "torch", variant: "ao", dir: x.float, newest: true})
	}
	return list
}

// writeGGUF writes a decoder as llama.cpp reads it, its matrices in the bits of the case, and
// returns the tokens before.
func (w *network) writeGGUF(file string, c *Case) (*peers.Tensor, error) {
	list, err := w.ggufTensors(c)
	if err != nil {
		return nil, err
	}
	d := c.Decoder
	keys := []gguf.Key{{Name: "general.architecture", Value: "gpt2"}, {Name: "tokenizer.ggml.model", Value: "no_vocab"},
		{Name: "gpt2.vocab_size", Value: d.VocabSize}, {Name: "gpt2.context_length", Value: d.MaxPositions}, {Name: "gpt2.embedding_length", Value: d.Width},
		{Name: "gpt2.feed_forward_length", Value: 4 * d.Width}, {Name: "gpt2.block_count", Value: d.NumLayers},
		{Name: "gpt2.attention.head_count", Value: d.NumHeads}, {Name: "gpt2.attention.layer_norm_epsilon", Value: d.LayerNormEps}}
	out, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(gguf.Write(out, keys, list), out.Close()); err != nil {
		return nil, err
	}
	before := file + ".before"
	if err := os.WriteFile(before, oracle.Bytes(w.before), 0o600); err != nil {
		return nil, err
	}
	return &peers.Tensor{Shape: w.before.Shape(), DType: "i64", File: before}, nil
}

// ggufTensors lists the tensors by llama.cpp's names. Its products take rows of outputs, as
// tables have them; the weights of layers are transposed.
func (w *network) ggufTensors(c *Case) (list []*gguf.Tensor, err error) {
	wide := map[int]gguf.Kind{4: gguf.Q4, 8: gguf.Q8, 32: gguf.F32}[c.Bits]
	add := func(name, path string, kind gguf.Kind, transposed bool) {
		a := w.traced.Param(path).Value
		if a == nil {
			err = fmt.Errorf("the network has no %s", path)
			return
		}
		v, t := array.Data[float32](array.Contiguous(a)), &gguf.Tensor{Name: name, Kind: kind, Vector: a.Rank() == 1, Rows: 1, Cols: a.Len()}
		if !t.Vector {
			t.Rows, t.Cols = a.Dim(0), a.Dim(1)
		}
		width := t.Cols
		t.At = func(row, col int) float32 { return v[row*width+col] }
		if transposed {
			t.Rows, t.Cols = t.Cols, t.Rows
			t.At = func(row, col int) float32 { return v[col*width+row] }
		}
		list = append(list, t)
	}
	both := func(theirs, ours string, kind gguf.Kind, transposed bool) {
		add(theirs+".weight", ours+".weight", kind, transposed)
		add(theirs+".bias", ours+".bias", gguf.F32, false)
	}
	add("token_embd.weight", "wte.weight", wide, false)
	add("position_embd.weight", "wpe.weight", gguf.F32, false)
	both("output_norm", "ln_f", gguf.F32, false)
	for i := range c.Decoder.NumLayers {
		ours, theirs := fmt.Sprintf("h.%d.", i), fmt.Sprintf("blk.%d.", i)
		both(theirs+"attn_norm", ours+"ln_1", gguf.F32, false)
		both(theirs+"ffn_norm", ours+"ln_2", gguf.F32, false)
		for _, n := range [][2]string{{"attn_qkv", "attn.c_attn"}, {"attn_output", "attn.c_proj"}, {"ffn_up", "mlp.c_fc"}, {"ffn_down", "mlp.c_proj"}} {
			both(theirs+n[0], ours+n[1], wide, true)
		}
	}
	return list, err
}

// microsoft is the operator set of ONNX Runtime's own operators.
const microsoft = "com.microsoft"

var onnxTypes = map[string]onnxpb.Type{"f32": onnxpb.Float, "u8": onnxpb.Uint8, "s8": onnxpb.Int8, "i32": onnxpb.Int32, "i64": onnxpb.Int64}

// inputName names operand i.
func inputName(i int) string { return fmt.Sprintf("x%d", i) }

// model starts a model with the case's operands and one float result "y".
func (c *Case) model(shape ...int) *onnxpb.Model {
	m := &onnxpb.Model{Opset: 17, Domains: []string{microsoft},
		Outputs: []onnxpb.ValueInfo{{Name: "y", Type: onnxpb.Float, Shape: shape}}}
	for i, in := range c.Inputs {
		if in.Const {
			m.Constant = append(m.Constant, onnxpb.Tensor{Name: inputName(i), Type: onnxTypes[in.DType], Shape: in.Shape, Data: encode(in.Tensor)})
		} else {
			m.Inputs = append(m.Inputs, onnxpb.ValueInfo{Name: inputName(i), Type: onnxTypes[in.DType], Shape: in.Shape})
		}
	}
	return m
}

// node appends an operator and returns the name of its first result, which is
// "y" when out is.
func node(m *onnxpb.Model, op, out string, in []string, attrs ...onnxpb.Attr) string {
	if out == "" {
		out = fmt.Sprintf("t%d", len(m.Nodes))
	}
	m.Nodes = append(m.Nodes, onnxpb.Node{Op: op, In: in, Out: []string{out}, Attrs: attrs})
	return out
}

// attr is an attribute.
func attr(name string, value any) onnxpb.Attr { return onnxpb.Attr{Name: name, Value: value} }

// floats adds a constant of the given values.
func floats(m *onnxpb.Model, name string, shape []int, v ...float32) string {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	m.Constant = append(m.Constant, onnxpb.Tensor{Name: name, Type: onnxpb.Float, Shape: shape, Data: b})
	return name
}

// ints adds a constant vector of i64.
func ints(m *onnxpb.Model, name string, v ...int) string {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	m.Constant = append(m.Constant, onnxpb.Tensor{Name: name, Type: onnxpb.Int64, Shape: []int{len(v)}, Data: b})
	return name
}

// encode returns the tensor's values in ONNX's raw form.
func encode(t peers.Tensor) []byte {
	n := t.Len()
	b := make([]byte, 0, n*t.Width())
	for i := range n {
		v := t.At(i)
		switch t.DType {
		case "f32":
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case "u8", "s8":
			b = append(b, byte(int(v)))
		case "i32":
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
		default:
			b = binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
		}
	}
	return b
}
