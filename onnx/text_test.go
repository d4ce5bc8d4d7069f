package onnx

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/scanner"

	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// parseText reads a model in the text syntax of ONNX
// (https://onnx.ai/onnx/repo-docs/Syntax.html): as much of it as tests need.
func parseText(src string) *pb.Model {
	p := &textParser{}
	p.s.Init(strings.NewReader(src))
	p.s.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanFloats | scanner.ScanStrings
	p.next()
	m := &pb.Model{IRVersion: 8}
	p.want("<")
	for p.tok != ">" {
		switch key := p.take(); key {
		case "ir_version":
			p.want(":")
			m.IRVersion = p.int()
		case "opset_import":
			p.want(":")
			m.Opsets = p.opsets()
		default:
			panic("parseText: " + key)
		}
		p.skip(",")
	}
	p.want(">")
	m.Graph = p.graph()
	for p.tok != "" {
		m.Functions = append(m.Functions, p.function())
	}
	return m
}

// function reads a function after the graph.
func (p *textParser) function() *pb.Function {
	f := &pb.Function{}
	p.want("<")
	for !p.skip(">") {
		switch key := p.take(); key {
		case "domain":
			p.want(":")
			f.Domain = p.text()
		case "opset_import":
			p.want(":")
			f.Opsets = p.opsets()
		default:
			panic("parseText: " + key)
		}
		p.skip(",")
	}
	f.Name = p.name()
	if p.skip("<") {
		for !p.skip(">") { // a name, or an attribute with its default
			if name := p.name(); p.tok != "=" {
				f.AttrNames = append(f.AttrNames, name)
			} else {
				f.Attrs = append(f.Attrs, p.attrOf(name))
			}
			p.skip(",")
		}
	}
	f.Inputs = p.names("(", ")")
	p.want("=")
	p.want(">")
	f.Outputs = p.names("(", ")")
	p.want("{")
	for !p.skip("}") {
		f.Nodes = append(f.Nodes, p.node())
	}
	return f
}

func (p *textParser) names(from, to string) (list []string) {
	p.want(from)
	for !p.skip(to) {
		list = append(list, p.name())
		p.skip(",")
	}
	return list
}

// name is an identifier, or a string for other names; _ is the absent one.
func (p *textParser) name() string {
	if strings.HasPrefix(p.tok, `"`) {
		return p.text()
	}
	if n := p.take(); n != "_" {
		return n
	}
	return ""
}

func (p *textParser) text() string {
	s, err := strconv.Unquote(p.tok)
	if err != nil {
		panic(fmt.Sprintf("parseText: %s: %s is no string", p.s.Pos(), p.tok))
	}
	p.next()
	return s
}

func (p *textParser) opsets() (list []*pb.Opset) {
	p.want("[")
	for !p.skip("]") {
		d := p.text()
		p.want(":")
		list = append(list, &pb.Opset{Domain: d, Version: p.int()})
		p.skip(",")
	}
	return list
}

type textParser struct {
	s   scanner.Scanner
	tok string
}

func (p *textParser) next() {
	if p.s.Scan() == scanner.EOF {
		p.tok = ""
		return
	}
	p.tok = p.s.TokenText()
}

func (p *textParser) take() string { t := p.tok; p.next(); return t }

func (p *textParser) want(t string) {
	if p.tok != t {
		panic(fmt.Sprintf("parseText: %s: %q, expected %q", p.s.Pos(), p.tok, t))
	}
	p.next()
}

func (p *textParser) skip(t string) bool {
	if p.tok == t {
		p.next()
		return true
	}
	return false
}

func (p *textParser) int() int64 {
	sign := ""
	if p.skip("-") {
		sign = "-"
	}
	n, err := strconv.ParseInt(sign+p.take(), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (p *textParser) graph() *pb.Graph {
	g := &pb.Graph{Name: p.name()}
	g.Inputs = p.values()
	p.want("=")
	p.want(">")
	g.Outputs = p.values()
	if p.skip("<") { // initializers
		for !p.skip(">") {
			g.Initializers = append(g.Initializers, p.tensor())
			p.skip(",")
		}
	}
	p.want("{")
	for !p.skip("}") {
		g.Nodes = append(g.Nodes, p.node())
	}
	return g
}

// tensor reads a type, a name, and after the = numbers in braces, or entries of external
// data in brackets, or a string of hexadecimal digits: raw data, which ONNX's syntax lacks.
func (p *textParser) tensor() *pb.Tensor {
	v := p.value()
	t := &pb.Tensor{Name: v.Name, Type: v.Type.Tensor.Elem}
	for _, d := range v.Type.Tensor.Shape.Dims {
		t.Dims = append(t.Dims, d.Size)
	}
	p.want("=")
	switch {
	case strings.HasPrefix(p.tok, `"`):
		raw, err := hex.DecodeString(p.text())
		if err != nil {
			panic(err)
		}
		t.Raw = raw
	case p.skip("["):
		t.Location = 1
		for !p.skip("]") {
			e := &pb.Entry{Key: p.text()}
			p.want(":")
			e.Value = p.text()
			t.External = append(t.External, e)
			p.skip(",")
		}
	default:
		p.want("{")
		for !p.skip("}") {
			if t.Type == pb.Float || t.Type == pb.Double {
				f, err := strconv.ParseFloat(p.number(), 64)
				if err != nil {
					panic(err)
				}
				if t.Type == pb.Float {
					t.Floats = binary.LittleEndian.AppendUint32(t.Floats, math.Float32bits(float32(f)))
				} else {
					t.Doubles = binary.LittleEndian.AppendUint64(t.Doubles, math.Float64bits(f))
				}
			} else {
				t.Int64s = append(t.Int64s, p.int())
			}
			p.skip(",")
		}
		switch t.Type {
		case pb.Int64:
		case pb.Uint64, pb.Uint32:
			t.Uint64s, t.Int64s = t.Int64s, nil
		default:
			t.Int32s, t.Int64s = t.Int64s, nil
		}
	}
	return t
}

func (p *textParser) values() (list []*pb.ValueInfo) {
	p.want("(")
	for !p.skip(")") {
		list = append(list, p.value())
		p.skip(",")
	}
	return list
}

func (p *textParser) value() *pb.ValueInfo {
	t := &pb.TensorType{}
	name := p.take()
	for d := pb.Undefined; d <= pb.Int2; d++ {
		if d.String() == name {
			t.Elem = d
		}
	}
	if p.skip("[") {
		t.Shape = &pb.Shape{}
		for !p.skip("]") {
			d := &pb.Dim{}
			if p.tok[0] >= '0' && p.tok[0] <= '9' || p.tok == "-" {
				d.Known, d.Size = true, p.int()
			} else if d.Param, _ = strconv.Unquote(p.tok); d.Param == "" {
				d.Param = p.tok
				p.next()
			} else {
				p.next()
			}
			t.Shape.Dims = append(t.Shape.Dims, d)
			p.skip(",")
		}
	} else {
		t.Shape = &pb.Shape{}
	}
	return &pb.ValueInfo{Name: p.name(), Type: &pb.Type{Tensor: t}}
}

func (p *textParser) node() *pb.Node {
	n := &pb.Node{}
	name, named := "", p.skip("[")
	if named {
		name = p.name()
		p.want("]")
	}
	for {
		n.Outputs = append(n.Outputs, p.name())
		if !p.skip(",") {
			break
		}
	}
	p.want("=")
	n.Op = p.name()
	for p.skip(".") {
		n.Domain, n.Op = strings.TrimPrefix(n.Domain+"."+n.Op, "."), p.take()
	}
	if p.skip("<") {
		for !p.skip(">") {
			n.Attrs = append(n.Attrs, p.attr())
			p.skip(",")
		}
	}
	n.Inputs = p.names("(", ")")
	n.Name = n.Op + "_" + n.Outputs[0]
	if named {
		n.Name = name
	}
	return n
}

func (p *textParser) attr() *pb.Attr { return p.attrOf(p.name()) }

func (p *textParser) attrOf(name string) *pb.Attr {
	a := &pb.Attr{Name: name}
	p.want("=")
	switch {
	case p.skip("@"):
		a.Type, a.Ref = pb.AttrInt, p.name()
	case p.skip("{"):
		a.Type, a.T = pb.AttrTensor, p.tensor()
		p.want("}")
	case p.skip("["):
		p.attrList(a)
	case strings.HasPrefix(p.tok, `"`):
		a.Type = pb.AttrString
		a.S = []byte(p.text())
	case p.tok == "-" || p.tok[0] <= '9' || p.tok == "nan":
		if n := p.number(); isFloat(n) {
			f, _ := strconv.ParseFloat(n, 32)
			a.Type, a.F = pb.AttrFloat, float32(f)
		} else {
			a.Type = pb.AttrInt
			a.I, _ = strconv.ParseInt(n, 10, 64)
		}
	default:
		a.Type, a.G = pb.AttrGraph, p.graph()
	}
	return a
}

// number is a literal with its sign.
func (p *textParser) number() string {
	if p.skip("-") {
		return "-" + p.take()
	}
	return p.take()
}

// isFloat tells a number with a point from an integer.
func isFloat(n string) bool { return n == "nan" || strings.ContainsAny(n, ".e") }

// attrList reads the rest of a list of integers, of numbers with points, or of strings.
func (p *textParser) attrList(a *pb.Attr) {
	a.Type = pb.AttrInts
	for !p.skip("]") {
		switch {
		case strings.HasPrefix(p.tok, `"`):
			a.Type = pb.AttrStrings
			a.Strings = append(a.Strings, []byte(p.text()))
		default:
			n := p.number()
			if f, err := strconv.ParseFloat(n, 32); isFloat(n) && err == nil {
				a.Type = pb.AttrFloats
				a.Floats = binary.LittleEndian.AppendUint32(a.Floats, math.Float32bits(float32(f)))
			} else {
				i, _ := strconv.ParseInt(n, 10, 64)
				a.Ints = append(a.Ints, i)
			}
		}
		p.skip(",")
	}
}

// fromText is a file with a model in text syntax.
func fromText(src string) *File {
	f, err := Parse(pb.Append(nil, parseText(src)), "model.onnx")
	if err != nil {
		panic(err)
	}
	return f
}
