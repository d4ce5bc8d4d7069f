package stablehlo

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// String returns the program in MLIR's generic form, with func.func in its custom one.
// Equal programs have equal texts.
func (p *Module) String() string {
	w := &printer{names: map[*Value]string{}}
	head := "module @" + p.Name
	if p.Partitions > 0 {
		head += " attributes {mhlo.num_partitions = " + strconv.Itoa(p.Partitions) + " : i32, mhlo.num_replicas = 1 : i32}"
	}
	w.line(head + " {")
	w.depth++
	var params, results []string
	for i, a := range p.Main.Args {
		text := w.arg(a) + ": " + a.Type.String()
		params = append(params, text+p.attributes(i))
	}
	for i, t := range p.Results() {
		text := t.String()
		if p.ResultShardings != nil {
			text += " {" + shardingAttr + " = \"" + p.ResultShardings[i] + "\"}"
		}
		results = append(results, text)
	}
	w.line("func.func public @main(" + strings.Join(params, ", ") + ") -> (" + strings.Join(results, ", ") + ") {")
	w.ops(p.Main, "func.return")
	w.line("}")
	w.depth--
	w.line("}")
	return w.out.String()
}

type printer struct {
	out   strings.Builder
	names map[*Value]string
	args  int
	next  int
	depth int
}

func (w *printer) line(s string) {
	w.out.WriteString(strings.Repeat("  ", w.depth) + s + "\n")
}

func (w *printer) arg(v *Value) string {
	w.names[v] = "%arg" + strconv.Itoa(w.args)
	w.args++
	return w.names[v]
}

func (w *printer) ops(r *Region, ret string) {
	w.depth++
	for _, o := range r.Ops {
		w.op(o, ret)
	}
	w.depth--
}

func (w *printer) op(o *Op, ret string) {
	name := "stablehlo." + o.Name
	if o.Name == "return" {
		name = ret
	}
	var operands, in, out []string
	for _, v := range o.Operands {
		operands = append(operands, w.names[v])
		in = append(in, v.Type.String())
	}
	s := w.results(o)
	s += strconv.Quote(name) + "(" + strings.Join(operands, ", ") + ")"
	w.out.WriteString(strings.Repeat("  ", w.depth) + s)
	for i, r := range o.Regions {
		w.out.WriteString([]string{" (", ", "}[min(i, 1)])
		w.region(r)
	}
	if len(o.Regions) > 0 {
		w.out.WriteString(")")
	}
	if len(o.Attrs) > 0 {
		var list []string
		for _, a := range o.Attrs {
			list = append(list, a.Name+" = "+attrString(a.Value))
		}
		w.out.WriteString(" {" + strings.Join(list, ", ") + "}")
	}
	for _, v := range o.Results {
		out = append(out, v.Type.String())
	}
	result := "(" + strings.Join(out, ", ") + ")"
	if len(out) == 1 {
		result = out[0]
	}
	w.out.WriteString(" : (" + strings.Join(in, ", ") + ") -> " + result + "\n")
}

// results names the results of o and returns the text in front of the operation.
func (w *printer) results(o *Op) string {
	base := "%" + strconv.Itoa(w.next)
	switch len(o.Results) {
	case 0:
		return ""
	case 1:
		w.names[o.Results[0]] = base
		w.next++
		return base + " = "
	}
	for i, v := range o.Results {
		w.names[v] = base + "#" + strconv.Itoa(i)
	}
	w.next++
	return base + ":" + strconv.Itoa(len(o.Results)) + " = "
}

func (w *printer) region(r *Region) {
	w.out.WriteString("{\n")
	if len(r.Args) > 0 {
		var list []string
		for _, a := range r.Args {
			list = append(list, w.arg(a)+": "+a.Type.String())
		}
		w.line("^bb0(" + strings.Join(list, ", ") + "):")
	}
	w.ops(r, "stablehlo.return")
	w.out.WriteString(strings.Repeat("  ", w.depth) + "}")
}

// attrString returns the text of an attribute.
func attrString(a Attribute) string {
	switch a := a.(type) {
	case Int:
		return strconv.Itoa(int(a)) + " : i64"
	case Bool:
		return strconv.FormatBool(bool(a))
	case Ints:
		if len(a) == 0 {
			return "array<i64>"
		}
		return "array<i64: " + joinInts(a) + ">"
	case Bools:
		if len(a) == 0 {
			return "array<i1>"
		}
		var list []string
		for _, b := range a {
			list = append(list, strconv.FormatBool(b))
		}
		return "array<i1: " + strings.Join(list, ", ") + ">"
	case Str:
		return strconv.Quote(string(a))
	case Enum:
		return "#stablehlo<" + a.Kind + " " + a.Word + ">"
	case Enums:
		words := make([]string, len(a))
		for i, e := range a {
			words[i] = attrString(e)
		}
		return "[" + strings.Join(words, ", ") + "]"
	case Dense:
		return "dense" + denseString(a) + " : " + a.Type.String()
	case Dot:
		return "#stablehlo.dot<" + fields("lhs_batching_dimensions", a.LhsBatch, "rhs_batching_dimensions", a.RhsBatch,
			"lhs_contracting_dimensions", a.LhsContract, "rhs_contracting_dimensions", a.RhsContract) + ">"
	case Conv:
		return "#stablehlo.conv<" + convSide(a.Input, "b", "f") + "x" + convSide(a.Kernel, "o", "i") + "->" + convSide(a.Output, "b", "f") + ">"
	case Gather:
		return "#stablehlo.gather<" + fields("offset_dims", a.OffsetDims, "collapsed_slice_dims", a.CollapsedSliceDims,
			"start_index_map", a.StartIndexMap, "index_vector_dim", a.IndexVectorDim) + ">"
	case Scatter:
		return "#stablehlo.scatter<" + fields("update_window_dims", a.UpdateWindowDims, "inserted_window_dims", a.InsertedWindowDims,
			"scatter_dims_to_operand_dims", a.ScatterDimsToOperandDims, "index_vector_dim", a.IndexVectorDim) + ">"
	}
	return "unit"
}

func joinInts(l []int) string {
	var list []string
	for _, i := range l {
		list = append(list, strconv.Itoa(i))
	}
	return strings.Join(list, ", ")
}

// fields prints name and value in turn, without empty lists.
func fields(kv ...any) string {
	var list []string
	for i := 0; i < len(kv); i += 2 {
		switch v := kv[i+1].(type) {
		case int:
			list = append(list, kv[i].(string)+" = "+strconv.Itoa(v))
		case []int:
			if len(v) > 0 {
				list = append(list, kv[i].(string)+" = ["+joinInts(v)+"]")
			}
		}
	}
	return strings.Join(list, ", ")
}

// convSide prints which dimension is which: [b, f, 0, 1].
func convSide(dims []int, first, second string) string {
	words := make([]string, len(dims))
	for i, d := range dims {
		switch i {
		case 0:
			words[d] = first
		case 1:
			words[d] = second
		default:
			words[d] = strconv.Itoa(i - 2)
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// denseLimit is the most elements that are printed one by one; more are one string of hexadecimal digits.
const denseLimit = 16

func denseString(d Dense) string {
	switch {
	case d.Type.Len() == 0:
		return "<>"
	case len(d.Bits) == 1:
		return "<" + elemString(d.Type.Elem, d.Bits[0]) + ">"
	case len(d.Bits) > denseLimit && d.Type.Elem != array.Bool:
		var raw []byte
		size := d.Type.Elem.Size()
		for _, b := range d.Bits {
			for k := range size {
				raw = append(raw, byte(b>>(8*k)))
			}
		}
		return `<"0x` + strings.ToUpper(hex.EncodeToString(raw)) + `">`
	}
	at := 0
	var nest func(dims []int) string
	nest = func(dims []int) string {
		if len(dims) == 0 {
			at++
			return elemString(d.Type.Elem, d.Bits[at-1])
		}
		var list []string
		for range dims[0] {
			list = append(list, nest(dims[1:]))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	return "<" + nest(d.Type.Dims) + ">"
}

// elemString prints one element: floats by a decimal number that reads back as the same
// bits, those that are no numbers by their bits.
func elemString(d array.DType, bits uint64) string {
	var f float64
	size := 32
	switch d {
	case array.Bool:
		return strconv.FormatBool(bits&1 != 0)
	case array.F64:
		f, size = math.Float64frombits(bits), 64
	case array.F32:
		f = float64(math.Float32frombits(uint32(bits)))
	case array.F16, array.BF16:
		return "0x" + strings.ToUpper(hex.EncodeToString([]byte{byte(bits >> 8), byte(bits)}))
	default:
		if d.IsSigned() {
			return strconv.FormatInt(int64(Extend(d, bits)), 10)
		}
		return strconv.FormatUint(Extend(d, bits), 10)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		s := strings.ToUpper(strconv.FormatUint(bits, 16))
		return "0x" + strings.Repeat("0", size/4-len(s)) + s
	}
	s := strconv.FormatFloat(f, 'e', -1, size)
	if mantissa, exp, _ := strings.Cut(s, "e"); !strings.Contains(mantissa, ".") { // MLIR wants the point
		s = mantissa + ".0e" + exp
	}
	return s
}

// Extend returns the bits of an element as 64 bits: integers of fewer by their sign or by zeros,
// floats by zeros.
func Extend(d array.DType, bits uint64) uint64 {
	if d == array.Bool {
		return bits & 1
	}
	shift := 64 - 8*d.Size()
	if d.IsInt() && d.IsSigned() {
		return uint64(int64(bits<<shift) >> shift)
	}
	return bits << shift >> shift
}

// attributes returns those of an argument of main.
func (p *Module) attributes(arg int) string {
	var list []string
	if p.Donated != nil && p.Donated[arg] {
		list = append(list, donor+" = true")
	}
	if p.Aliases != nil && p.Aliases[arg] > 0 {
		list = append(list, aliasing+" = "+strconv.Itoa(p.Aliases[arg]-1)+" : i32")
	}
	if p.Shardings != nil {
		list = append(list, shardingAttr+" = \""+p.Shardings[arg]+"\"")
	}
	if list == nil {
		return ""
	}
	return " {" + strings.Join(list, ", ") + "}"
}

// donor is the attribute of an argument whose memory XLA may make results in, aliasing that of one in which it
// makes the result of a number.
const (
	donor    = "jax.buffer_donor"
	aliasing = "tf.aliasing_output"
)
