package kernelstyle

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// weight is a tensor of the model's state, as it is or packed.
type weight struct {
	path  string
	array *array.Array
	field string        // in the struct of weights, or of a block's weights
	block bool          // belongs to a repeated block
	pack  kernel.Packer // its layout once it is loaded, nil for none
	from  *weight       // weight that it is packed from: itself, except for a path's second form
}

// tensors are the weights of a model and of the bodies in it.
type tensors struct {
	weights      []*weight
	byForm       map[string]*weight // by path and packing
	reads        map[string]int     // by path: how many plans and forms read it
	written      map[string]bool    // by path: those that steps write
	weightFields *goname.Set        // all that the struct of weights has
}

// readOnce reports whether one buffer, of all plans, is the tensor of a path, which
// nothing writes.
func (t *tensors) readOnce(path string) bool { return t.reads[path] == 1 && !t.written[path] }

// takeWeights finds the arrays of the plan's weights, each once. A tensor that is
// read as it is and packed, or packed in two ways, is a weight for each form and
// one in the file: the form that is not packed is loaded, or else the first one,
// and the others are made of it. They are sorted by path, for files and diffs that
// do not change with the plan's order.
func (m *model) takeWeights(state map[string]*array.Array) diag.List {
	var errs diag.List
	seen := map[string]bool{}
	loaded := map[string]*weight{} // source for other packed forms of a path
	m.byForm, m.reads, m.written = map[string]*weight{}, map[string]int{}, m.Written()
	for b := range m.weightBuffers() {
		m.reads[b.Path]++
		if m.byForm[form(b)] != nil {
			continue
		}
		a := state[b.Path]
		if err := checkWeight(b, a); err != nil {
			if !seen[b.Path] {
				errs = append(errs, err)
			}
			seen[b.Path] = true
			continue
		}
		seen[b.Path] = true
		w := &weight{path: b.Path, array: array.Contiguous(a), pack: b.Pack}
		if first := loaded[b.Path]; first == nil || w.pack == nil {
			loaded[b.Path] = w
		}
		m.byForm[form(b)] = w
		m.weights = append(m.weights, w)
	}
	for _, w := range m.weights {
		w.from = loaded[w.path]
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
		m.defaults[i] = &weight{path: path, array: array.Contiguous(a)}
		m.defaults[i].from = m.defaults[i]
		m.weights = append(m.weights, m.defaults[i])
	}
	slices.SortStableFunc(m.weights, func(a, b *weight) int { return strings.Compare(a.path, b.path) })
	if elements, _ := m.size(); m.opts.Weights == WeightsAuto && elements <= literalLimit {
		m.opts.Weights = WeightsLiteral
	} else if m.opts.Weights == WeightsAuto {
		m.opts.Weights = WeightsEmbed
	}
	return errs
}

// weightBuffers ranges over the weights of the plan and of the bodies in it.
func (m *model) weightBuffers() func(yield func(*plan.Buffer) bool) {
	return func(yield func(*plan.Buffer) bool) {
		for q := range m.All() {
			for _, k := range q.Weights() {
				if !yield(&q.Buffers[k]) {
					return
				}
			}
		}
	}
}

// form is a tensor as steps read it: its path, and how it is packed.
func form(b *plan.Buffer) string { return b.Path + packing(b) }

// packing tells the forms of a path apart.
func packing(b *plan.Buffer) string {
	if b.Pack == nil {
		return ""
	}
	return " " + plan.KernelName(b.Pack)
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
	for _, n := range m.named() {
		elements += n.Array.Len()
		bytes += n.Array.Len() * n.Array.DType().Size()
	}
	return elements, bytes
}

// nameWeights gives tensors fields in the struct of weights.
func (m *model) nameWeights() {
	m.weightFields = newSet("w", "l")
	for i := range len(m.weights)/maxLines + 2 {
		m.weightFields.Reserve(numbered("bind", i), numbered("pack", i))
	}
	for _, w := range m.weights {
		hint := w.path
		if w.from != w {
			hint += ".packed"
		}
		w.field = m.weightFields.Lower(hint)
	}
}

// named are the tensors of the file, each once.
func (m *model) named() []safetensors.Named {
	var list []safetensors.Named
	for _, w := range m.weights {
		if w.from == w {
			list = append(list, safetensors.Named{Name: w.path, Array: w.array})
		}
	}
	return list
}

// packs counts the tensors that are packed.
func (m *model) packs() (n int) {
	for _, w := range m.weights {
		if w.pack != nil {
			n++
		}
	}
	return n
}

// addWeights adds the file of weights, with checksums; it depends on names and
// data alone.
func (m *model) addWeights(out *gosrc.Files) error {
	var b bytes.Buffer
	err := safetensors.Write(&b, m.named(), safetensors.Checksums(m.named()))
	out.Add(m.opts.weightsFile(), b.Bytes())
	return err
}

// weightFiles prints the struct of weights, the code that fills it from a loader,
// and the numbers where they are part of the source. A repeated block has a
// struct of its own, of which the model's struct holds one for each of the
// block's calls.
func (g *pkg) weightFiles() []*goFile {
	files := &goFiles{opts: &g.opts, base: g.opts.File + "_weights"}
	schema, name := g.prefix+"Schema", g.prefix+"Weights"
	if g.opts.Weights != WeightsGiven {
		files.declare(schema+" is the hash of names, types and shapes of the weights.", 1,
			jen.Const().Id(schema).Op("=").Add(hash(g.named())))
	}
	var own []*weight
	for _, w := range g.weights {
		if !w.block {
			own = append(own, w)
		}
	}
	fields, lines := bindLines(own, func(path string) jen.Code { return gosrc.Quoted(path) })
	packed := g.packLines(own)
	list := gosrc.Fields(fields, arrayPointer())
	blocks := g.allBlocks()
	for _, b := range blocks {
		if len(b.weights) > 0 {
			list = append(list, jen.Id(b.tensors).Add(b.array(b.weightsType())))
			lines = append(lines, b.bindCall())
		}
		if b.packs() {
			packed = append(packed, b.packCall(g.packArg()))
		}
	}
	files.declare(name+" are the tensors of the model. They do not change.", len(list)+2, jen.Type().Id(name).Struct(list...))
	files.function(lines, func(i int) (string, *jen.Statement) {
		bind := numbered("bind", i)
		return bind + " takes tensors from l.", jen.Func().Params(g.weightsParam()).Id(bind).Params(loaderParam())
	}, func(i int) jen.Code { return jen.Id("w").Dot(numbered("bind", i)).Call(jen.Id("l")) })
	if len(packed) > 0 {
		g.printPack(files, g.weightsParam(), packed)
	}
	for _, b := range blocks {
		if len(b.weights) > 0 {
			b.printWeights(g.model, files)
		}
	}
	if g.opts.Weights == WeightsLiteral {
		files.list = append(files.list, g.literalFile())
	}
	return files.list
}

// hash prints the hash of names, types and shapes of tensors.
func hash(list []safetensors.Named) *jen.Statement {
	return jen.Op("0x" + strconv.FormatUint(safetensors.SchemaHash(list), 16))
}

func loaderParam() *jen.Statement { return jen.Id("l").Op("*").Add(fromArray("Loader")) }

// bindLines are the fields of tensors, and the requests for those that a file has.
func bindLines(list []*weight, name func(path string) jen.Code) (fields []string, lines []jen.Code) {
	for _, w := range list {
		fields = append(fields, w.field)
		if w.from == w {
			args := []jen.Code{jen.Op("&").Id("w").Dot(w.field), name(w.path), gosrc.DType(w.array.DType())}
			lines = append(lines, jen.Id("l").Dot("Tensor").Call(append(args, gosrc.Ints(w.array.Shape())...)...))
		}
	}
	return fields, lines
}

// packLines print how tensors are packed, those last of which others are made.
func (m *model) packLines(list []*weight) (lines []jen.Code) {
	for _, first := range []bool{true, false} {
		for _, w := range list {
			if w.pack != nil && (w.from != w) == first {
				k := gosrc.Literal(reflect.Indirect(reflect.ValueOf(w.pack)), gosrc.Holes{})
				call := fromKernel("Pack").Call(m.packArg(), k, jen.Id("w").Dot(w.from.field))
				if m.opts.Part {
					call = m.packArg().Call(k, jen.Id("w").Dot(w.from.field))
				}
				lines = append(lines, jen.Id("w").Dot(w.field).Op("=").Add(call))
			}
		}
	}
	return lines
}

// packArg is what packs, as an argument: a workspace, or in one of several models the function that
// packs for all of them.
func (m *model) packArg() *jen.Statement {
	if m.opts.Part {
		return jen.Id("pack")
	}
	return jen.Id("work")
}

// packParam is that as a parameter.
func (m *model) packParam() *jen.Statement {
	if m.opts.Part {
		return m.packArg().Func().Params(fromKernel("Packer"), arrayPointer()).Add(arrayPointer())
	}
	return m.packArg().Op("*").Add(fromKernel("Workspace"))
}

// printPack prints the method that packs tensors.
func (m *model) printPack(files *goFiles, receiver *jen.Statement, lines []jen.Code) {
	files.function(lines, func(i int) (string, *jen.Statement) {
		name := numbered("pack", i)
		return name + " lays tensors out for the processor.", jen.Func().Params(receiver).Id(name).Params(m.packParam())
	}, func(i int) jen.Code { return jen.Id("w").Dot(numbered("pack", i)).Call(m.packArg()) })
}
