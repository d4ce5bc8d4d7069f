package main

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// The wire format of protocol buffers, as far as the models of scripts need it.
func num(field int, n int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field<<3)), uint64(n))
}

func msg(field int, parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	head := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field<<3|2)), uint64(len(b)))
	return append(head, b...)
}

func str(field int, s string) []byte { return msg(field, []byte(s)) }

// value is an input or output: name float[N,3], with letters for sizes that are open.
func protoValue(field int, decl string) []byte {
	name, typ, _ := strings.Cut(decl, " ")
	elem, sizes, _ := strings.Cut(strings.TrimSuffix(typ, "]"), "[")
	var dims [][]byte
	for _, s := range strings.Split(sizes, ",") {
		if n, err := strconv.Atoi(s); err == nil {
			dims = append(dims, msg(1, num(1, n)))
		} else if s != "" {
			dims = append(dims, msg(1, str(2, s)))
		}
	}
	kind := map[string]int{"float": 1, "int64": 7}[elem]
	return msg(field, str(1, name), msg(2, msg(1, num(1, kind), msg(2, dims...))))
}

// protoModel is a model of nodes "op name: in in -> out out" between ";".
func protoModel(nodes, in, out string) []byte {
	g := [][]byte{str(2, "g")}
	for _, line := range strings.Split(nodes, ";") {
		head, rest, _ := strings.Cut(line, ":")
		op, name, _ := strings.Cut(strings.TrimSpace(head), " ")
		from, to, _ := strings.Cut(rest, "->")
		var n [][]byte
		for _, s := range strings.Fields(from) {
			n = append(n, str(1, s))
		}
		for _, s := range strings.Fields(to) {
			n = append(n, str(2, s))
		}
		n = append(n, str(3, name), str(4, op))
		g = append(g, msg(1, n...))
	}
	for _, s := range strings.Split(in, ";") {
		g = append(g, protoValue(11, s))
	}
	g = append(g, protoValue(12, out))
	m := append(num(1, 8), msg(7, g...)...)
	return append(m, msg(8, str(1, ""), num(2, 17))...)
}

// protoTensor is float[2,3]=1,2,3,4,5,6 or int64[2]=3,2.
func protoTensor(text string) []byte {
	typ, list, _ := strings.Cut(text, "=")
	elem, sizes, _ := strings.Cut(strings.TrimSuffix(typ, "]"), "[")
	var b, raw []byte
	for _, s := range strings.Split(sizes, ",") {
		n, _ := strconv.Atoi(s)
		b = append(b, num(1, n)...)
	}
	for _, s := range strings.Split(list, ",") {
		v, _ := strconv.ParseFloat(s, 64)
		if elem == "float" {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		} else {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(int64(v)))
		}
	}
	kind := map[string]int{"float": 1, "int64": 7}[elem]
	return append(append(b, num(2, kind)...), msg(9, raw)...)
}

// onnxModel FOLDER NODES INPUTS OUTPUT writes FOLDER/model.onnx.
func onnxModel(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o777))
	ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), "model.onnx"), protoModel(args[1], args[2], args[3]), 0o666))
}

// onnxSample FOLDER N INPUT... -> OUTPUT writes a sample of a model.
func onnxSample(ts *testscript.TestScript, _ bool, args []string) {
	dir := filepath.Join(ts.MkAbs(args[0]), "test_data_set_"+args[1])
	ts.Check(os.MkdirAll(dir, 0o777))
	for i, s := range args[2 : len(args)-2] {
		ts.Check(os.WriteFile(filepath.Join(dir, "input_"+strconv.Itoa(i)+".pb"), protoTensor(s), 0o666))
	}
	ts.Check(os.WriteFile(filepath.Join(dir, "output_0.pb"), protoTensor(args[len(args)-1]), 0o666))
}
