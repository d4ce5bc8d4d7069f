// Package words finds the words of a network that a generated table lists, by its own reading of the table: of fields and
// elements, by the paths that lead to them.
package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/gofx-dev/gofx/internal/peek"
	"github.com/gofx-dev/gofx/tensor"
)

// Table has the fields and elements of a table.
type Table struct{ fields, elems map[string]bool }

// Files are generated files.
type Files struct {
	t   *testing.T
	all []*ast.File
}

// Open reads generated files.
func Open(t *testing.T, files ...string) Files {
	t.Helper()
	var all []*ast.File
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return Files{t, all}
}

// Table returns the table of a constructor.
func (f Files) Table(constructor string) Table {
	f.t.Helper()
	for _, file := range f.all {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == constructor {
				table := Table{map[string]bool{}, map[string]bool{}}
				ast.Inspect(fn, table.entry)
				return table
			}
		}
	}
	f.t.Fatal("there is no ", constructor)
	return Table{}
}

// Lists reports whether a table has a field of a type.
func (t Table) Lists(of reflect.Type, field string) bool { return t.fields[name(of)+"."+field] }

// entry enters a field or an element whose value is compared. What is only added to is not.
func (t Table) entry(n ast.Node) bool {
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return true
	}
	at := map[string]string{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			text := types.ExprString(kv.Value)
			if s, err := strconv.Unquote(text); err == nil {
				text = s
			}
			at[types.ExprString(kv.Key)] = text
		}
	}
	if access := at["Access"]; !strings.Contains(access, "Adds") && (strings.Contains(access, "Load") || strings.Contains(access, "Store")) {
		if at["Name"] == "" {
			t.elems[at["Type"]] = true
		} else {
			t.fields[at["Type"]+"."+at["Name"]] = true
		}
	}
	return true
}

// Word is a word of a basic type.
type Word struct {
	Path   string
	Listed bool // it is compared
	value  reflect.Value
	old    reflect.Value
}

// Change gives the word another value, Restore the one that it had.
func (w *Word) Change() {
	w.old = reflect.New(w.value.Type()).Elem()
	w.old.Set(w.value)
	switch v := w.value; {
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.CanUint():
		v.SetUint(v.Uint() + 1)
	case v.CanFloat():
		v.SetFloat(v.Float() * 1.5)
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "?")
	}
}

// Restore undoes Change.
func (w *Word) Restore() { w.value.Set(w.old) }

// walk is a walk over a network. The first one keeps to the table, the second one goes everywhere.
type walk struct {
	Table
	all   bool
	seen  map[visited]bool
	found map[visited]bool // of the first walk
	words []*Word
}

type visited struct {
	p unsafe.Pointer
	t reflect.Type
}

// Words lists all words of basic types that a network leads to. Their order is that of the fields.
func (t Table) Words(m any) []*Word {
	listed := walk{Table: t, seen: map[visited]bool{}, found: map[visited]bool{}}
	listed.value(reflect.ValueOf(m), "m", true)
	all := walk{Table: t, all: true, seen: map[visited]bool{}, found: listed.found}
	all.value(reflect.ValueOf(m), "m", true)
	return all.words
}

func (w *walk) value(v reflect.Value, path string, listed bool) {
	if !listed && !w.all && v.Kind() != reflect.Struct && v.Kind() != reflect.Array {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if _, ok := v.Interface().(*tensor.Tensor); ok || v.IsNil() || !w.first(v) {
			return
		}
		to := v.Elem()
		w.value(to, path, to.Kind() == reflect.Struct || v.Kind() == reflect.Interface || w.elems[name(v.Type())])
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			w.value(peek.Field(v, i), path+"."+f.Name, w.fields[name(v.Type())+"."+f.Name])
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && (v.Len() == 0 || !w.first(v)) {
			return
		}
		for i := range v.Len() {
			w.value(v.Index(i), path+"["+strconv.Itoa(i)+"]", w.elems[name(v.Type())])
		}
	case reflect.Map, reflect.Func, reflect.Chan, reflect.UnsafePointer:
	default:
		if !v.CanSet() {
			return
		}
		k := visited{v.Addr().UnsafePointer(), v.Type()}
		if !w.all {
			w.found[k] = true
		} else if !w.seen[k] {
			w.seen[k] = true
			w.words = append(w.words, &Word{Path: path, Listed: w.found[k], value: v})
		}
	}
}

// first reports whether a pointer or slice is met for the first time.
func (w *walk) first(v reflect.Value) bool {
	if v.Kind() == reflect.Interface {
		return true
	}
	k := visited{v.UnsafePointer(), v.Type()}
	old := w.seen[k]
	w.seen[k] = true
	return !old
}

// name is the name of a type with the paths of packages.
func name(t reflect.Type) string {
	switch {
	case t.Name() != "" && t.PkgPath() != "":
		return t.PkgPath() + "." + t.Name()
	case t.Name() != "":
		return t.Name()
	case t.Kind() == reflect.Pointer:
		return "*" + name(t.Elem())
	case t.Kind() == reflect.Slice:
		return "[]" + name(t.Elem())
	case t.Kind() == reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + name(t.Elem())
	}
	return t.String()
}
