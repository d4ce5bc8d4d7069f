package pt2

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/torchpt"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/internal/mapfile"
	"github.com/gofx-dev/gofx/internal/ziparc"
	"github.com/gofx-dev/gofx/shape"
)

// File is an archive: a program with its weights.
type File struct {
	name      string // for messages
	prog      *program
	weights   *torchpt.File
	constants *torchpt.File
	inputs    []input
	outputs   []output
	mem       *mapfile.Memory // that Read made
}

// Read reads an archive. Where the system has it the file is mapped into memory, so that weights are read
// when they are used: it must not be changed in place as long as a graph of it lives, only replaced. Close
// gives the memory back; nothing of a refused file stays mapped.
func Read(path string) (*File, error) {
	mem, err := mapfile.ReadPath(path)
	if err != nil {
		return nil, (&diag.Error{Code: CodeRead, Msg: "cannot be read", Err: err}).At(diag.Pos{File: path})
	}
	f, err := Parse(mem.Bytes(), path)
	if err != nil {
		return nil, mem.Refuse(err)
	}
	f.mem = mem
	return f, nil
}

// Close gives back the memory of a file that Read mapped. Nothing may use the File any more, nor its graphs,
// whose weights lie there.
func (f *File) Close() error { return f.mem.Close() }

// Parse reads an archive from memory, which graphs share. The error is a *diag.Error or a diag.List.
func Parse(b []byte, name string) (*File, error) {
	f := &File{name: name}
	if err := f.read(b); err != nil {
		return nil, f.placed(err)
	}
	return f, nil
}

// placed says of errors which file they are about.
func (f *File) placed(err error) error {
	var out diag.List
	out.Add(err)
	for i, e := range out {
		c := *e
		if c.Pos.File == "" {
			c.Pos.File = f.name
		}
		out[i] = &c
	}
	if len(out) == 1 {
		return out[0]
	}
	return out
}

const archiveHint = "write it by torch.export.save(torch.export.export(model, args), \"net.pt2\")"

func (f *File) read(b []byte) error {
	if !bytes.HasPrefix(b, []byte("PK\x03\x04")) {
		return diag.New(CodeFormat, "the file begins with "+quote(string(b[:min(4, len(b))]))+", expected an archive of torch.export.save").WithHint(archiveHint)
	}
	z, err := ziparc.Open(b)
	if err != nil {
		return &diag.Error{Code: CodeFormat, Msg: "the archive cannot be read", Err: err}
	}
	m, e := model(z)
	if e != nil {
		return e
	}
	text, err := m.Bytes(mostJSON)
	if err != nil {
		return &diag.Error{Code: CodeFormat, Msg: "member " + quote(m.Name) + " cannot be read", Err: err}
	}
	if f.prog, e = readProgram(text, m.Name); e != nil {
		return e
	}
	if f.weights, err = torchpt.Parse(b); err != nil {
		return err
	}
	if f.constants, err = torchpt.ParseConstants(b); err != nil {
		return err
	}
	return f.signature()
}

// model finds the text of the program.
func model(z *ziparc.Archive) (*ziparc.Member, *diag.Error) {
	if m := z.Find("serialized_exported_program.json"); m != nil {
		return m, nil // PyTorch 2.1 to 2.7
	}
	var found []*ziparc.Member
	compiled := false
	for _, m := range z.Members {
		_, name, _ := strings.Cut(m.Name, "/") // the folder in which everything is
		if name, ok := strings.CutPrefix(name, "models/"); ok && strings.HasSuffix(name, ".json") {
			found = append(found, m)
		}
		compiled = compiled || strings.HasPrefix(name, "data/aotinductor/")
		if name == "byteorder" {
			if b, err := m.Bytes(16); err != nil || string(b) != "little" {
				return nil, diag.New(CodeFormat, "byte order is "+quote(string(b))+", expected little").WithHint("save it on a little-endian machine")
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var names []string
		for _, m := range found {
			names = append(names, quote(m.Name))
		}
		return nil, diag.New(CodeFormat, "the archive has several programs, "+strings.Join(names, ", ")+", expected one").WithHint("save each by itself: torch.export.save")
	case compiled:
		return nil, diag.New(CodeFormat, "the archive has machine code of AOTInductor and no program").WithHint(archiveHint)
	}
	return nil, diag.New(CodeFormat, "the archive has no models/*.json, expected one that torch.export.save writes").WithHint(archiveHint)
}

// inputKind is the role of an input of the graph.
type inputKind uint8

const (
	userInput inputKind = iota
	weight              // a parameter or buffer of the state
	constant            // a tensor that is no state
	fixed               // a value that is no tensor
)

// input is an input of the file's graph.
type input struct {
	kind   inputKind
	arg    argument // as the graph has it
	name   string   // of its value
	target string   // the path of a weight or constant
	buffer bool
	stored bool // a buffer that the state dict lacks
}

// outputKind is the role of a result of the file's graph.
type outputKind uint8

const (
	result outputKind = iota
	writesState
	writesInput
)

// output is a result of the file's graph.
type output struct {
	kind   outputKind
	arg    argument
	target string // the state or input that it is written to
	name   string
}

// spec is the common part of the specifications of inputs and outputs.
type spec struct {
	Arg       json.RawMessage `json:"arg"`
	Name      string          `json:"name"`
	Param     string          `json:"parameter_name"`
	Buffer    string          `json:"buffer_name"`
	Constant  string          `json:"tensor_constant_name"`
	UserInput string          `json:"user_input_name"`
	// Persistent is true for buffers of the state dict.
	Persistent *bool `json:"persistent"`
}

// signature reads the roles of the inputs and outputs of the graph.
func (f *File) signature() error {
	var errs diag.List
	fail := func(msg string) { errs.Add(diag.New(CodeProgram, msg)) }
	m := &f.prog.Module
	if len(m.Signature.Inputs) != len(m.Graph.Inputs) || len(m.Signature.Outputs) != len(m.Graph.Outputs) {
		fail("the signature has " + count(len(m.Signature.Inputs), "input") + " and " + count(len(m.Signature.Outputs), "output") + ", the graph " +
			count(len(m.Graph.Inputs), "input") + " and " + count(len(m.Graph.Outputs), "output"))
		return errs.Err()
	}
	for i, u := range m.Signature.Inputs {
		kind, s, err := readSpec(u)
		if err != nil {
			errs.Add(err)
			continue
		}
		in := input{arg: m.Graph.Inputs[i]}
		in.name = in.arg.name()
		switch kind {
		case "user_input":
		case "parameter":
			in.kind, in.target = weight, s.Param
		case "buffer":
			in.kind, in.target, in.buffer = weight, s.Buffer, true
			in.stored = s.Persistent != nil && !*s.Persistent
		case "tensor_constant":
			in.kind, in.target, in.buffer = constant, s.Constant, true
		case "constant_input":
			in.kind, in.name = fixed, s.Name
		default:
			fail("input " + quote(in.name) + " is a " + quote(kind) + ", expected a tensor, a number or state")
		}
		f.inputs = append(f.inputs, in)
	}
	for i, u := range m.Signature.Outputs {
		kind, s, err := readSpec(u)
		if err != nil {
			errs.Add(err)
			continue
		}
		out := output{arg: m.Graph.Outputs[i]}
		switch kind {
		case "user_output", "loss_output":
		case "buffer_mutation":
			out.kind, out.target = writesState, s.Buffer
		case "parameter_mutation":
			out.kind, out.target = writesState, s.Param
		case "user_input_mutation":
			out.kind, out.target = writesInput, s.UserInput
		default:
			fail("output " + quote(out.arg.name()) + " is a " + quote(kind) + ", which is not supported")
		}
		f.outputs = append(f.outputs, out)
	}
	f.nameOutputs()
	return errs.Err()
}

func readSpec(u map[string]json.RawMessage) (string, spec, error) {
	var s spec
	kind, raw, err := only(u)
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return "", s, &diag.Error{Code: CodeFormat, Msg: "the signature is malformed", Err: err}
	}
	return kind, s, nil
}

// name is that of the value which an argument stands for, "" for numbers and lists.
func (a argument) name() string {
	var n named
	if a.kind == "as_tensor" || strings.HasPrefix(a.kind, "as_sym_") || a.kind == "as_custom_obj" || a.kind == "as_token" {
		_ = json.Unmarshal(a.raw, &n) // an empty name is reported
	}
	if n.Name == "" {
		return n.As
	}
	return n.Name
}

// nameOutputs gives results the names that their dictionaries or classes have for them, or those of their values.
func (f *File) nameOutputs() {
	var names []string
	if s := f.call(); s != nil {
		names = leaves(s.Out, "")
	}
	users := 0
	for _, o := range f.outputs {
		if o.kind == result {
			users++
		}
	}
	if len(names) != users {
		names = make([]string, users)
	}
	var label goname.Labels
	k := 0
	for i := range f.outputs {
		o := &f.outputs[i]
		switch {
		case o.kind == writesInput:
			o.name = label.Fresh(goname.Legal(o.target+"_after", "output"))
			continue
		case o.kind != result:
			continue
		}
		name := names[k]
		k++
		if name == "" || plainIndex(name) {
			name = o.arg.name()
		}
		o.name = label.Fresh(goname.Legal(name, "output"))
	}
}

// call is the signature of the whole program, nil where the file has none.
func (f *File) call() *callSignature {
	for _, c := range f.prog.Module.Calls {
		if c.Name == "" {
			return c.Signature
		}
	}
	return nil
}

// Torch is the version of PyTorch that wrote the program, "" where it does not say.
func (f *File) Torch() string { return f.prog.Torch }

// Inputs are the names of the tensors and sizes that a call of the program is given, in order.
func (f *File) Inputs() []string {
	var names []string
	for _, in := range f.inputs {
		if in.kind == userInput && in.name != "" {
			names = append(names, in.name)
		}
	}
	return names
}

// Outputs are the names of the results: those that a dictionary or a class of the model has for
// them, else the names of the values. New values of inputs that the program writes come last, named
// as the input with _after. Values that in-place operators write, which only Import detects, are
// not among these.
func (f *File) Outputs() []string {
	var names, after []string
	for _, o := range f.outputs {
		switch {
		case o.kind == result && o.arg.kind != "as_none":
			names = append(names, o.name)
		case o.kind == writesInput:
			after = append(after, o.name)
		}
	}
	return append(names, after...)
}

// get reads a weight or constant.
func (f *File) get(in input) (*array.Array, error) {
	for _, src := range []*torchpt.File{f.weights, f.constants} {
		if _, _, ok := src.Type(in.target); ok {
			return src.Get(in.target)
		}
	}
	return nil, diag.New(CodeProgram, "the archive has no tensor "+quote(in.target)+", expected one in data/weights or data/constants")
}

// InputTypes are the types of Inputs as the file says them: sizes that it leaves open are letters or unknown.
func (f *File) InputTypes() []shape.Type {
	var types []shape.Type
	symbol := func(name string) shape.Dim {
		if shape.ValidSymbol(name) {
			return shape.Sym(name)
		}
		return shape.Unknown
	}
	for _, in := range f.inputs {
		if in.kind != userInput || in.name == "" {
			continue
		}
		m, ok := f.prog.Module.Graph.Tensors[in.name]
		if !ok {
			types = append(types, shape.TensorType(array.I64, shape.Dims{}))
			continue
		}
		dims := make([]shape.Dim, len(m.Sizes))
		for i, s := range m.Sizes {
			dims[i] = dimOf(s, symbol)
		}
		d, _ := torchpt.ScalarType(m.DType)
		types = append(types, shape.TensorType(d, shape.Of(dims...)))
	}
	return types
}
