package kernelstyle

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
)

// entryFile prints the API of the package. Everything in it that does not depend
// on the plan is a template: Go source in which the names of a model called Model
// stand for those of the model at hand.
func (g *pkg) entryFile() *goFile {
	head := entry{pkg: g, file: newFile(&g.opts, g.opts.File+".go")}
	head.packageDoc()
	head.file.template(head.modelText(), head.with(nil))
	head.printOrigin()
	head.printMakers()
	g.printKept(head.file)
	r := results{pkg: g, file: head.file}
	r.print()
	g.targets = r.targets
	f := forward{pkg: g, file: head.file, results: r.targets}
	f.print()
	c := checks{pkg: g, file: head.file}
	c.print()
	g.printPeak(head.file)
	return head.file
}

// entry prints the package's comment, the model's type and its constructors.
type entry struct {
	*pkg
	file *goFile
}

// with returns the replacements for names in templates, and further ones.
func (g *pkg) with(more map[string]any) map[string]any {
	all := map[string]any{
		"Model": g.typ, "New": g.maker("New"), "Load": g.maker("Load"), "PeakBytes": g.owned("PeakBytes"), "Result": g.owned("Result"),
		"MAKERS": g.makers(), "MADE": gosrc.Quoted(g.makers()), "PACK": g.packCall(),
	}
	for _, what := range []string{"State", "Weights", "Schema", "Literal", "File", "Read", "With", "Check", "Run", "Scratch"} {
		all["model"+what] = g.prefix + what
	}
	for name, x := range more {
		all[name] = x
	}
	return all
}

// packCall prints the statement that packs the weights, if there are such.
func (g *pkg) packCall() []jen.Code {
	if g.packs() == 0 {
		return nil
	}
	if g.opts.Part {
		return []jen.Code{jen.Id("w").Dot("pack").Call(g.packArg())}
	}
	work := jen.Op("&").Add(fromKernel("Workspace")).Values(jen.Dict{jen.Id("Threads"): jen.Qual("runtime", "GOMAXPROCS").Call(jen.Lit(0))})
	return []jen.Code{jen.Id("w").Dot("pack").Call(work)}
}

func (g *pkg) makers() string {
	switch g.opts.Weights {
	case WeightsExternal:
		return g.maker("Load")
	case WeightsGiven:
		return g.maker("New")
	}
	return g.maker("New") + " or " + g.maker("Load")
}

// packageDoc describes the package: its computation, its source, its use.
func (e *entry) packageDoc() {
	what, comment := "Package "+e.opts.Package, e.file.PackageComment
	if e.opts.Part {
		what, comment = e.typ, func(text string) { e.file.Comment(text) }
	}
	line := func(parts ...string) { comment(strings.TrimRight("// "+gosrc.Comment(strings.Join(parts, "")), " ")) }
	code := func(parts ...string) { comment("//\t" + gosrc.Comment(strings.Join(parts, ""))) }
	line(what, " computes the model ", cmp.Or(gosrc.Comment(e.Name), e.typ), ".")
	line()
	for _, text := range e.opts.About.Lines() {
		code(text)
	}
	if e.opts.About.Lines() != nil {
		line()
	}
	for i, k := range e.Inputs {
		code(e.Buffers[k].Name, " ", e.Buffers[k].Type.String(), e.mayBeNil(i), e.opts.About.Input(i))
	}
	for i, k := range e.Outputs {
		code("-> ", e.outputs[i], " ", e.Buffers[k].Type.String(), e.opts.About.Output(i))
	}
	line()
	elements, bytes := e.size()
	line("It has ", strconv.Itoa(len(e.weights)), " tensors of weights with ", strconv.Itoa(elements), " elements, ", strconv.Itoa(bytes), " bytes, and ",
		stepsOf(e.Plan), " steps.")
	if from := e.opts.About.From(); from != "" {
		line("The weights are from ", from, ".")
	}
	if n := e.packs(); n > 0 {
		line("When they are loaded, ", strconv.Itoa(n), " of the tensors are laid out for the processor; the originals are garbage then.")
	}
	line()
	switch e.opts.Weights {
	case WeightsExternal:
		code("m, err := ", e.maker("Load"), "(file, size) // ", e.opts.weightsFile())
	case WeightsGiven:
		args := "(find, threads)"
		if e.opts.Part {
			args = "(find, pack, threads)"
		}
		code("m, err := ", e.maker("New"), args)
	default:
		code("m, err := ", e.maker("New"), "()")
	}
	args := append([]string{"ctx"}, e.inputs...)
	if len(e.kept) > 0 {
		code("state, err := m.NewState()")
		args = slices.Insert(args, 1, "state")
	}
	outs := "result"
	if !e.structured() {
		outs = strings.Join(e.outputs, ", ")
	}
	code(outs, ", err := m.Forward(", strings.Join(args, ", "), ")")
	line()
	if len(e.kept) > 0 {
		line(e.stateDoc())
		line("Many goroutines may share one model, each with a ", e.owned("State"), " of its own.")
		return
	}
	line("Many goroutines may share one model.")
}

// mayBeNil notes that an input has a default.
func (g *pkg) mayBeNil(input int) string {
	if g.defaults[input] == nil {
		return ""
	}
	return ", with a default"
}

const modelText = `
// Model computes the model. It is made by MAKERS and may be used by many goroutines at once.
type Model struct {
	// Threads is the most goroutines that one call computes with. Set it before the
	// first call; results do not depend on it.
	Threads int

	weights atomic.Pointer[modelWeights]
	free    kernel.FreeList[modelState]
}
`

const hookText = `
	// Hook, unless it is nil, is called for the calls of Go functions that only have effects:
	// CALLS. Set it before the first call;
	// calls of the model at once call it at once.
	Hook kernel.Hook

	weights `

// told lists the Go functions that the model calls for their effects, those of bodies too.
func (g *pkg) told() (functions []string) {
	for q := range g.All() {
		for i := range q.Steps {
			if f := q.Steps[i].Told(); f != "" && !slices.Contains(functions, f) {
				functions = append(functions, f)
			}
		}
	}
	return functions
}

func (e *entry) modelText() string {
	told := e.told()
	if len(told) == 0 {
		return modelText
	}
	text := strings.Replace(hookText, "CALLS", gosrc.Comment(strings.Join(told, ", ")), 1)
	return strings.Replace(modelText, "\n\tweights ", text, 1)
}

// printOrigin prints a constant that says where the weights are from, where that is known.
func (e *entry) printOrigin() {
	from := e.opts.About.From()
	if from == "" {
		return
	}
	name := e.owned(originName)
	e.file.Line()
	e.file.Comment("// " + name + " says where the weights are from that the package was generated with.")
	e.file.Const().Id(name).Op("=").Add(gosrc.Quoted(from))
}

// originName is what users call the constant of a model called Model.
const originName = "WeightsOrigin"

// printMakers prints the functions that make models, and those that give them weights.
func (e *entry) printMakers() {
	switch e.opts.Weights {
	case WeightsEmbed:
		e.file.Anon("embed")
		e.file.Line()
		e.file.Comment("//go:embed " + e.opts.weightsFile())
		e.file.Var().Id(e.prefix + "File").Index().Byte()
		e.file.template(newEmbeddedText, e.with(nil))
	case WeightsLiteral:
		e.file.template(newLiteralText, e.with(nil))
	case WeightsGiven:
		text := newGivenText
		if e.opts.Part {
			text = newPartText
		}
		e.file.template(text, e.with(nil))
	}
	if e.opts.Weights != WeightsGiven {
		e.file.template(loadText, e.with(nil))
	}
	e.file.template(withText, e.with(nil))
}

const newGivenText = `
// New returns the model with the tensors of a program as its weights. find returns one by
// its name, and threads is the most goroutines of a call. Tensors are read where they lie, or laid
// out for the processor: call Bind after they were written or replaced.
func New(find func(name string) (*array.Array, error), threads int) (*Model, error) {
	m := modelWith(nil)
	m.Threads = threads
	if err := m.Bind(find); err != nil {
		return nil, err
	}
	return m, nil
}

// Bind replaces the weights. Calls that have begun end with the old ones, and after an error, which
// lists every tensor that is missing or differs, all go on with them.
func (m *Model) Bind(find func(name string) (*array.Array, error)) error {
	l := array.LoaderOf(find)
	w := &modelWeights{}
	w.bind(l)
	if err := l.Err(); err != nil {
		return err
	}
	PACK
	m.weights.Store(w)
	return nil
}
`

const newPartText = `
// New returns the model with the tensors of a program as its weights. find returns one by
// its name, pack lays one out for the processor, as kernel.Pack does, and threads is the most
// goroutines of a call. The model reads the tensors where they lie, and what pack returned: call Bind
// after they were written or replaced.
func New(find func(name string) (*array.Array, error), pack func(kernel.Packer, *array.Array) *array.Array, threads int) (*Model, error) {
	m := modelWith(nil)
	m.Threads = threads
	if err := m.Bind(find, pack); err != nil {
		return nil, err
	}
	return m, nil
}

// Bind replaces the weights. Calls that have begun end with the old ones, and after an error, which
// lists every tensor that is missing or differs, all go on with them.
func (m *Model) Bind(find func(name string) (*array.Array, error), pack func(kernel.Packer, *array.Array) *array.Array) error {
	l := array.LoaderOf(find)
	w := &modelWeights{}
	w.bind(l)
	if err := l.Err(); err != nil {
		return err
	}
	PACK
	m.weights.Store(w)
	return nil
}
`

const newEmbeddedText = `
// New returns the model with the weights that it was generated with.
func New() (*Model, error) {
	f, err := safetensors.Parse(modelFile)
	if err != nil {
		return nil, err
	}
	w, err := modelRead(f)
	if err != nil {
		return nil, err
	}
	return modelWith(w), nil
}
`

const newLiteralText = `
// New returns the model with the weights that it was generated with.
func New() (*Model, error) {
	l := array.LoaderOf(modelLiteral)
	w := &modelWeights{}
	w.bind(l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	PACK
	return modelWith(w), nil
}
`

const loadText = `
// Load returns the model with weights from a safetensors file of size bytes. The
// error lists every tensor that is missing, differs or is not expected.
func Load(r io.ReaderAt, size int64) (*Model, error) {
	m := modelWith(nil)
	if err := m.Reload(r, size); err != nil {
		return nil, err
	}
	return m, nil
}

// Reload replaces the weights by those of a file, as Load reads them. Calls that
// have begun end with the old ones; after an error all go on with them.
func (m *Model) Reload(r io.ReaderAt, size int64) error {
	f, err := safetensors.Open(r, size)
	if err != nil {
		return err
	}
	w, err := modelRead(f)
	if err != nil {
		return err
	}
	m.weights.Store(w)
	return nil
}

// modelRead takes the weights from a file.
func modelRead(f *safetensors.File) (*modelWeights, error) {
	l := safetensors.NewLoader(f)
	w := &modelWeights{}
	w.bind(&l.Loader)
	if err := l.Err(modelSchema); err != nil {
		return nil, err
	}
	PACK
	return w, nil
}
`

const withText = `
// modelWith returns a model with the weights w.
func modelWith(w *modelWeights) *Model {
	n := runtime.GOMAXPROCS(0)
	m := &Model{Threads: n, free: kernel.NewFreeList[modelState](n)}
	m.weights.Store(w)
	return m
}

// loaded returns the weights.
func (m *Model) loaded() (*modelWeights, error) {
	if m != nil {
		if w := m.weights.Load(); w != nil {
			return w, nil
		}
	}
	return nil, kernel.NoWeights(MADE)
}
`
