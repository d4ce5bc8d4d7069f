package kernelstyle

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// weight is a tensor of the model's state.
type weight struct {
	path   string
	array  *array.Array
	field  string // in the struct of weights, or of a block's weights
	buffer int    // -1 for the default of an input
	block  bool   // belongs to a repeated block
}

// takeWeights finds the arrays of the plan's weights, each once.
func (m *model) takeWeights(state map[string]*array.Array) diag.List {
	var errs diag.List
	seen := map[string]bool{}
	for _, k := range m.Weights() {
		b := &m.Buffers[k]
		if seen[b.Path] {
			continue
		}
		seen[b.Path] = true
		a := state[b.Path]
		if err := checkWeight(b, a); err != nil {
			errs = append(errs, err)
			continue
		}
		m.weights = append(m.weights, &weight{path: b.Path, array: array.Contiguous(a), buffer: k})
	}
	// Defaults of inputs are weights, too, of paths that nothing else has.
	for i, a := range m.Defaults {
		if a == nil {
			continue
		}
		path := m.Buffers[m.Inputs[i]].Name + ".default"
		for seen[path] {
			path += "_"
		}
		seen[path] = true
		m.defaults[i] = &weight{path: path, array: array.Contiguous(a), buffer: -1}
		m.weights = append(m.weights, m.defaults[i])
	}
	slices.SortFunc(m.weights, func(a, b *weight) int { return strings.Compare(a.path, b.path) })
	if elements, _ := m.size(); m.opts.Weights == WeightsAuto && elements <= literalLimit {
		m.opts.Weights = WeightsLiteral
	} else if m.opts.Weights == WeightsAuto {
		m.opts.Weights = WeightsEmbed
	}
	return errs
}

func checkWeight(b *plan.Buffer, a *array.Array) *diag.Error {
	var e *diag.Error
	switch {
	case a == nil:
		e = diag.New(CodeWeight, "weight "+strconv.Quote(b.Path)+" has no data, expected "+b.Type.String()).WithHint("load the weights before code is generated")
	case !shape.TypeOf(a).Same(b.Type):
		e = diag.New(CodeWeight, "weight "+strconv.Quote(b.Path)+" is "+shape.TypeOf(a).String()+", expected "+b.Type.String()).WithHint("plan again after the weights have changed")
	default:
		return nil
	}
	e.Node = b.Name
	return e
}

// size counts the elements and bytes of all weights.
func (m *model) size() (elements, bytes int) {
	for _, w := range m.weights {
		elements += w.array.Len()
		bytes += w.array.Len() * w.array.DType().Size()
	}
	return elements, bytes
}

// nameWeights gives tensors fields in the struct of weights.
func (m *model) nameWeights(refs refs) {
	fields := newSet("w", "l")
	for i := range len(m.weights)/maxLines + 2 {
		fields.Reserve(numbered("bind", i))
	}
	byPath := map[string]string{}
	for _, w := range m.weights {
		w.field = fields.Lower(w.path)
		byPath[w.path] = w.field
	}
	for k := range m.Buffers {
		if b := &m.Buffers[k]; b.Kind == plan.Weight {
			refs[k] = jen.Id("w").Dot(byPath[b.Path])
		}
	}
}

func (m *model) named() []safetensors.Named {
	list := make([]safetensors.Named, len(m.weights))
	for i, w := range m.weights {
		list[i] = safetensors.Named{Name: w.path, Array: w.array}
	}
	return list
}

// addWeights adds the file of weights, with checksums; it depends on names and
// data alone.
func (m *model) addWeights(out *gosrc.Files) error {
	var b bytes.Buffer
	err := safetensors.Write(&b, m.named(), safetensors.Checksums(m.named()))
	out.Add(m.opts.weightsFile(), b.Bytes())
	return err
}

// weightFiles prints the struct of weights, what fills it from a loader, and the
// numbers where they are part of the source. A repeated block has a struct of its
// own, of which the model's struct holds one for each of the block's calls.
func (g *pkg) weightFiles() []*goFile {
	files := &goFiles{opts: &g.opts, base: g.opts.File + "_weights"}
	schema, name := g.prefix+"Schema", g.prefix+"Weights"
	files.declare(schema+" is the hash of names, types and shapes of the weights.", 1,
		jen.Const().Id(schema).Op("=").Op("0x"+strconv.FormatUint(safetensors.SchemaHash(g.named()), 16)))
	var fields []string
	var lines []jen.Code
	for _, w := range g.weights {
		if !w.block {
			fields = append(fields, w.field)
			lines = append(lines, bindLine(w, gosrc.Quoted(w.path)))
		}
	}
	list := gosrc.Fields(fields, arrayPointer())
	for _, b := range g.blocks {
		if len(b.weights) > 0 {
			list = append(list, jen.Id(b.field).Index(jen.Lit(len(b.Calls))).Id(b.weightsType()))
			lines = append(lines, b.bindCall())
		}
	}
	files.declare(name+" are the tensors of the model. They do not change.", len(list)+2, jen.Type().Id(name).Struct(list...))
	files.function(lines, func(i int) (string, *jen.Statement) {
		bind := numbered("bind", i)
		return bind + " takes tensors from l.", jen.Func().Params(g.weightsParam()).Id(bind).Params(loaderParam())
	}, func(i int) jen.Code { return jen.Id("w").Dot(numbered("bind", i)).Call(jen.Id("l")) })
	for _, b := range g.blocks {
		if len(b.weights) > 0 {
			b.printWeights(files)
		}
	}
	if g.opts.Weights == WeightsLiteral {
		files.list = append(files.list, g.literalFile())
	}
	return files.list
}

func loaderParam() *jen.Statement { return jen.Id("l").Op("*").Add(fromSafetensors("Loader")) }

// bindLine prints the request for one tensor.
func bindLine(w *weight, name jen.Code) jen.Code {
	args := []jen.Code{jen.Op("&").Id("w").Dot(w.field), name, gosrc.DType(w.array.DType())}
	return jen.Id("l").Dot("Tensor").Call(append(args, gosrc.Ints(w.array.Shape())...)...)
}
