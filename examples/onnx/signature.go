package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

// signature is the signature of the generated method Forward, without its
// context and error.
type signature struct{ Inputs, Outputs []value }

// value is an input or output: its Go name, Go type (array.Dense[float32]), and the
// type of the model (f32[N,10]).
type value struct{ Name, Type, Doc string }

// readSignature reads it from the source of a generated package, which is the one
// place that has the names.
func readSignature(folder string) (*signature, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "Forward" && f.Recv != nil {
				return signatureOf(f)
			}
		}
	}
	return nil, fmt.Errorf("%s has no method Forward", folder)
}

func signatureOf(f *ast.FuncDecl) (*signature, error) {
	docs := map[string]string{}
	for _, line := range strings.Split(f.Doc.Text(), "\n") {
		if name, typ, ok := strings.Cut(strings.TrimPrefix(line, "\t"), " "); ok && strings.HasPrefix(line, "\t") {
			docs[name] = typ
		}
	}
	in, err := values(f.Type.Params, docs)
	if err != nil {
		return nil, err
	}
	out, err := values(f.Type.Results, docs)
	if err != nil {
		return nil, err
	}
	if len(in) == 0 || in[0].Type != "context.Context" || len(out) == 0 || out[len(out)-1].Type != "error" {
		return nil, fmt.Errorf("method Forward does not take a context and return an error")
	}
	s := &signature{in[1:], out[:len(out)-1]}
	for _, v := range append(append([]value(nil), s.Inputs...), s.Outputs...) {
		if !strings.HasPrefix(v.Type, "array.Dense[") {
			return nil, fmt.Errorf("%s is a %s, for which a command line has no flag: write main yourself, with the generated package", v.Name, v.Type)
		}
	}
	return s, nil
}

// values lists parameters or results.
func values(list *ast.FieldList, docs map[string]string) (all []value, err error) {
	if list == nil {
		return nil, nil
	}
	for _, field := range list.List {
		if len(field.Names) == 0 {
			return nil, fmt.Errorf("method Forward has values without a name")
		}
		for _, n := range field.Names {
			all = append(all, value{Name: n.Name, Type: types.ExprString(field.Type), Doc: docs[n.Name]})
		}
	}
	return all, nil
}
