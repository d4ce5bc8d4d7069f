package onnxpb

// The messages of onnx.proto, with its names; parts that inference does not use
// (training, device configurations) are left out.

// Model is ModelProto: a file.
type Model struct {
	IRVersion       int64
	Opsets          []*Opset
	ProducerName    string
	ProducerVersion string
	Domain          string
	Version         int64
	Doc             string
	Graph           *Graph
	Metadata        []*Entry
	Functions       []*Function
}

func (m *Model) fields(f *field) {
	f.number64(1, &m.IRVersion)
	f.text(2, &m.ProducerName)
	f.text(3, &m.ProducerVersion)
	f.text(4, &m.Domain)
	f.number64(5, &m.Version)
	f.text(6, &m.Doc)
	one(f, 7, &m.Graph)
	many(f, 8, &m.Opsets)
	many(f, 14, &m.Metadata)
	many(f, 25, &m.Functions)
}

// Opset is OperatorSetIdProto.
type Opset struct {
	Domain  string
	Version int64
}

func (m *Opset) fields(f *field) {
	f.text(1, &m.Domain)
	f.number64(2, &m.Version)
}

// Entry is StringStringEntryProto.
type Entry struct{ Key, Value string }

func (m *Entry) fields(f *field) {
	f.text(1, &m.Key)
	f.text(2, &m.Value)
}

// Graph is GraphProto.
type Graph struct {
	Nodes        []*Node
	Name         string
	Initializers []*Tensor
	Sparse       []*Sparse
	Doc          string
	Inputs       []*ValueInfo
	Outputs      []*ValueInfo
	Values       []*ValueInfo // of the others, where they are known
	Metadata     []*Entry
}

func (m *Graph) fields(f *field) {
	many(f, 1, &m.Nodes)
	f.text(2, &m.Name)
	many(f, 5, &m.Initializers)
	f.text(10, &m.Doc)
	many(f, 11, &m.Inputs)
	many(f, 12, &m.Outputs)
	many(f, 13, &m.Values)
	many(f, 15, &m.Sparse)
	many(f, 16, &m.Metadata)
}

// Node is NodeProto: a call of an operator.
type Node struct {
	Inputs   []string // "" for an absent one
	Outputs  []string
	Name     string
	Op       string
	Domain   string
	Overload string
	Attrs    []*Attr
	Doc      string
	Metadata []*Entry
}

func (m *Node) fields(f *field) {
	f.texts(1, &m.Inputs)
	f.texts(2, &m.Outputs)
	f.text(3, &m.Name)
	f.text(4, &m.Op)
	many(f, 5, &m.Attrs)
	f.text(6, &m.Doc)
	f.text(7, &m.Domain)
	f.text(8, &m.Overload)
	many(f, 9, &m.Metadata)
}

// AttrType is AttributeProto.AttributeType.
type AttrType int32

// The types of attributes.
const (
	AttrUnknown AttrType = iota // of files older than the field
	AttrFloat
	AttrInt
	AttrString
	AttrTensor
	AttrGraph
	AttrFloats
	AttrInts
	AttrStrings
	AttrTensors
	AttrGraphs
	AttrSparse
	AttrSparses
	AttrTypeProto
	AttrTypeProtos
)

// Attr is AttributeProto: a named constant of a node.
type Attr struct {
	Name    string
	Ref     string // in a function: the attribute of the call whose value it has
	Type    AttrType
	F       float32
	I       int64
	S       []byte
	T       *Tensor
	G       *Graph
	Sparse  *Sparse
	TP      *Type
	Floats  []byte // of float32
	Ints    []int64
	Strings [][]byte
	Tensors []*Tensor
	Graphs  []*Graph
	Doc     string
}

func (m *Attr) fields(f *field) {
	f.text(1, &m.Name)
	f.float(2, &m.F)
	f.number64(3, &m.I)
	f.data(4, &m.S)
	one(f, 5, &m.T)
	one(f, 6, &m.G)
	f.fixed(7, 4, &m.Floats)
	f.numbers(8, &m.Ints, false)
	f.blobs(9, &m.Strings)
	many(f, 10, &m.Tensors)
	many(f, 11, &m.Graphs)
	f.text(13, &m.Doc)
	one(f, 14, &m.TP)
	f.number32(20, (*int32)(&m.Type))
	f.text(21, &m.Ref)
	one(f, 22, &m.Sparse)
}

// DataType is TensorProto.DataType.
type DataType int32

// The element types.
const (
	Undefined DataType = iota
	Float
	Uint8
	Int8
	Uint16
	Int16
	Int32
	Int64
	String
	Bool
	Float16
	Double
	Uint32
	Uint64
	Complex64
	Complex128
	BFloat16
	Float8E4M3FN
	Float8E4M3FNUZ
	Float8E5M2
	Float8E5M2FNUZ
	Uint4
	Int4
	Float4E2M1
	Float8E8M0
	Uint2
	Int2
)

var typeNames = [...]string{"undefined", "float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool",
	"float16", "double", "uint32", "uint64", "complex64", "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz",
	"float8e5m2", "float8e5m2fnuz", "uint4", "int4", "float4e2m1", "float8e8m0", "uint2", "int2"}

// String returns the name that ONNX's documents use.
func (t DataType) String() string {
	if t < 0 || int(t) >= len(typeNames) {
		return "unknown element type"
	}
	return typeNames[t]
}

// Tensor is TensorProto: a constant.
type Tensor struct {
	Name     string
	Type     DataType
	Dims     []int64
	Raw      []byte // little-endian; nil when the values are in a typed field
	Floats   []byte // of float32, little-endian
	Doubles  []byte
	Int32s   []int64
	Int64s   []int64
	Uint64s  []int64 // by their bits
	Strings  [][]byte
	External []*Entry
	Location int32 // 1: the data are in the file that External names
	Doc      string
	Metadata []*Entry
}

func (m *Tensor) fields(f *field) {
	f.numbers(1, &m.Dims, false)
	f.number32(2, (*int32)(&m.Type))
	f.fixed(4, 4, &m.Floats)
	f.numbers(5, &m.Int32s, true)
	f.blobs(6, &m.Strings)
	f.numbers(7, &m.Int64s, true)
	f.text(8, &m.Name)
	f.data(9, &m.Raw)
	f.fixed(10, 8, &m.Doubles)
	f.numbers(11, &m.Uint64s, true)
	f.text(12, &m.Doc)
	if many(f, 13, &m.External); f.reading && f.number == 13 && len(m.External) == 1 {
		f.state.outside = append(f.state.outside, m)
	}
	f.number32(14, &m.Location)
	many(f, 16, &m.Metadata)
}

// Sparse is SparseTensorProto: values at indices, linear or one row each.
type Sparse struct {
	Values, Indices *Tensor
	Dims            []int64
}

func (m *Sparse) fields(f *field) {
	one(f, 1, &m.Values)
	one(f, 2, &m.Indices)
	f.numbers(3, &m.Dims, false)
}

// ValueInfo is ValueInfoProto: a name and its type as far as it is known.
type ValueInfo struct {
	Name string
	Type *Type
	Doc  string
}

func (m *ValueInfo) fields(f *field) {
	f.text(1, &m.Name)
	one(f, 2, &m.Type)
	f.text(3, &m.Doc)
}

// Type is TypeProto; one of its fields is set.
type Type struct {
	Tensor   *TensorType
	Sequence *Elem
	Map      *Map
	Sparse   *TensorType
	Optional *Elem
}

func (m *Type) fields(f *field) {
	one(f, 1, &m.Tensor)
	one(f, 4, &m.Sequence)
	one(f, 5, &m.Map)
	one(f, 8, &m.Sparse)
	one(f, 9, &m.Optional)
}

// TensorType is TypeProto.Tensor.
type TensorType struct {
	Elem  DataType
	Shape *Shape // nil: unknown rank
}

func (m *TensorType) fields(f *field) {
	f.number32(1, (*int32)(&m.Elem))
	one(f, 2, &m.Shape)
}

// Elem is TypeProto.Sequence and TypeProto.Optional.
type Elem struct{ Type *Type }

func (m *Elem) fields(f *field) { one(f, 1, &m.Type) }

// Map is TypeProto.Map, which is known so that it can be refused.
type Map struct{ Value *Type }

func (m *Map) fields(f *field) { one(f, 2, &m.Value) }

// Shape is TensorShapeProto.
type Shape struct{ Dims []*Dim }

func (m *Shape) fields(f *field) { many(f, 1, &m.Dims) }

// Dim is TensorShapeProto.Dimension: a number, a name, or nothing.
type Dim struct {
	Known bool // Size was given, which may be 0
	Size  int64
	Param string
}

func (m *Dim) fields(f *field) {
	if f.reading {
		m.Known = m.Known || f.number == 1
		f.number64(1, &m.Size)
	} else if m.Known {
		f.tag(1, varint)
		f.out = appendVarint(f.out, m.Size)
	}
	f.text(2, &m.Param)
}

// Function is FunctionProto: an operator written with others.
type Function struct {
	Name      string
	Domain    string
	Overload  string
	Inputs    []string
	Outputs   []string
	AttrNames []string // without a default
	Attrs     []*Attr  // with one
	Nodes     []*Node
	Opsets    []*Opset
	Doc       string
}

func (m *Function) fields(f *field) {
	f.text(1, &m.Name)
	f.texts(4, &m.Inputs)
	f.texts(5, &m.Outputs)
	f.texts(6, &m.AttrNames)
	many(f, 7, &m.Nodes)
	f.text(8, &m.Doc)
	many(f, 9, &m.Opsets)
	f.text(10, &m.Domain)
	many(f, 11, &m.Attrs)
	f.text(13, &m.Overload)
}

// Sequence is SequenceProto, of files that hold a value.
type Sequence struct {
	Name      string
	ElemType  int32 // 1 tensor, 3 sequence, 5 optional
	Tensors   []*Tensor
	Sequences []*Sequence
	Optionals []*Optional
}

func (m *Sequence) fields(f *field) {
	f.text(1, &m.Name)
	f.number32(2, &m.ElemType)
	many(f, 3, &m.Tensors)
	many(f, 5, &m.Sequences)
	many(f, 7, &m.Optionals)
}

// Optional is OptionalProto; without a value all of its fields but Name are empty.
type Optional struct {
	Name     string
	ElemType int32
	Tensor   *Tensor
	Sequence *Sequence
	Optional *Optional
}

func (m *Optional) fields(f *field) {
	f.text(1, &m.Name)
	f.number32(2, &m.ElemType)
	one(f, 3, &m.Tensor)
	one(f, 5, &m.Sequence)
	one(f, 7, &m.Optional)
}
