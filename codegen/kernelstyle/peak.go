package kernelstyle

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

const symbolicPeakText = `
// PeakBytes returns the memory in bytes that one call takes on one thread, besides
// weights, inputs and results; -1 for sizes that no call can have.
func PeakBytes(SYMBOLS) (bytes int64) {
	defer func() {
		if recover() != nil {
			bytes = -1
		}
	}()
	s := &modelState{}
	s.Measure()
	HEADERS
	w := &modelWeights{}
	w.bind(&array.Loader{})
	s.layout(NAMES)
	modelScratch(s, w)
	return s.Bytes()
}
`

// printPeak prints PeakBytes: a constant where all sizes are fixed, else a
// function that lays out a call without memory.
func (g *pkg) printPeak(file *goFile) {
	if !g.symbolic() {
		arena, scratch := g.fixedPeak()
		name := g.owned("PeakBytes")
		file.declare(name+" is the memory in bytes that one call takes on one thread, besides\nweights, inputs and results"+g.besides()+".", 1,
			jen.Const().Id(name).Op("=").Op(strconv.Itoa(arena)).Op("+").Op(strconv.Itoa(scratch)))
		return
	}
	var headers []jen.Code
	header := func(ref *jen.Statement, typed []jen.Code) {
		args := append([]jen.Code{jen.New(fromArray("Array"))}, typed...)
		headers = append(headers, jen.Add(ref).Op("=").Id("s").Dot("Header").Call(args...))
	}
	for _, k := range slices.Concat(g.Inputs, g.ownOutputs()) {
		header(g.refs[k], g.typeArgs(&g.Buffers[k]))
	}
	for i, x := range g.kept {
		header(jen.Id("s").Dot(g.keeps[i]), x.typed())
	}
	text := strings.Replace(symbolicPeakText, "weights, inputs and results; -1", "weights, inputs and results"+strings.ReplaceAll(g.besides(), "\n", "\n// ")+"; -1", 1)
	file.template(text, g.with(map[string]any{"SYMBOLS": jen.List(g.symbolParams()...), "HEADERS": headers, "NAMES": jen.List(ids(g.symbols)...)}))
}

// besides names the memory that PeakBytes cannot count.
func (g *pkg) besides() string {
	for f := range g.eachFlow() {
		if f.Call() {
			return "\nand what follows from sizes that the call finds"
		}
	}
	return ""
}

// fixedPeak returns the bytes of arena and scratch of a plan without symbols, those
// of bodies included.
func (m *model) fixedPeak() (arena, scratch int) {
	arena, _ = m.Arena.Int()
	headers := make([]*array.Array, len(m.Buffers))
	for k := range m.Buffers {
		d, dims, _ := m.Buffers[k].Type.Concrete()
		headers[k] = array.Make(d, nil, nil, 0, nil)
		if !m.Buffers[k].Late {
			headers[k].Reset(d, dims)
		}
	}
	pick := func(list []int) []*array.Array {
		a := make([]*array.Array, len(list))
		for i, k := range list {
			if k >= 0 {
				a[i] = headers[k]
			}
		}
		return a
	}
	for i := range m.Steps {
		s := &m.Steps[i]
		if c := s.Control(); s.Joined || m.findsSizes(s) || c != nil && c.Call() {
			continue // sizes that follow from values are not known here
		}
		for _, r := range s.Regions {
			more, most := m.within(s, r).fixedPeak()
			arena, scratch = arena+more, max(scratch, most)
		}
		if s.View {
			s.Kernel.(kernel.Viewer).View(pick(s.Out), pick(s.In))
		} else if k, ok := s.Kernel.(kernel.Scratcher); ok {
			scratch = max(scratch, k.ScratchBytes(pick(s.Out), pick(s.In)))
		}
	}
	return arena, scratch
}
