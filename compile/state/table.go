package state

import "reflect"

// Table lists the memory that one compiled function may read or write before and while it
// computes. `fxgen compile` writes it as data. Names of types are PkgPath + "." + Name as
// reflect has them; composite types are written with the full names of their parts, as in
// "[]*example.com/m.Block" and "map[string]example.com/m.T".
type Table struct {
	// Func is the function: "example.com/app.Classify", "(*example.com/app.Decoder).Step".
	Func string
	// Receiver tells that the first field of In is the pointer receiver of a method.
	Receiver bool
	// Fields are the fields of structs that code loads or stores. A field that is a struct or an
	// array itself, and is only passed on the way to fields of it, has no entry: an entry stands
	// for all that lies within the field.
	Fields []Field
	// Elems are slices, arrays, maps and pointees whose elements code loads, stores, ranges over,
	// appends to or takes the length of. Where they are structs, Fields says what code does with
	// them; a struct of which Fields has nothing is loaded or stored whole. Values of maps are
	// always whole.
	Elems []Elem
	// Globals are the variables of packages that code loads, stores, or takes the address of.
	// For structs it is as with Elems.
	Globals []Global
	// Dynamic are the concrete types that code puts into interfaces or asserts, or whose methods
	// were analysed.
	Dynamic []string
	// Bodies are the function values that were analysed.
	Bodies []Body
	// Maps are the map types of Fields, Elems and Globals.
	Maps []Map
	// Numbers are fields and arguments that nothing but numbers of operators depends on.
	Numbers []Number
	// AnySize tells that code looks at no size of a tensor, and calls nothing that does other things for other sizes. Sizes are
	// the lines that do.
	AnySize bool
	Sizes   []Place
	// Loops are those whose rounds do the same. Counted tells that code is told no size, but the number of rounds of these loops.
	Loops   []Loop
	Counted bool
	// Ints are the sizes that code is told as ints.
	Ints Ints
	// Regions tells that functions of Cond, While and Scan do the same in all rounds, and store nothing.
	Regions bool
	// Types are types that lead to those of Fields and Elems where no argument, result, global or map does.
	Types []reflect.Type
	// Hidden are the names in Fields and Elems that Types cannot lead to.
	Hidden []Hidden
	// InPlace are calls that write the data of tensors.
	InPlace []Place
	// Tells are calls that each call makes once, in this order, and that are made again when it is replayed.
	Tells []Tell
	// Entry is the function, where Tells has calls of package log/slog, whose records name its lines.
	Entry any
	// Opaque are calls of which nothing is known. A call that comes to one of them is not recorded.
	Opaque []Place
	// Observes are lines that look at the data of tensors. They are as those of Opaque; those that neither all calls
	// nor calls under conditions come to are left out, since a call that is recorded tells that it has come there.
	Observes []Place
}

// Access says what code does with a field, an element or a global.
type Access uint8

// The ways.
const (
	Load  Access = 1 << iota // the value is read, or its length with Len
	Store                    // it may be stored
	Len                      // of a slice, a map or a string
	Cap                      // of a slice: also where code appends to it, or slices it beyond its length
	Adds                     // an integer of which every use is x += e, where e does not depend on x
)

// Field is a field of a struct type.
type Field struct {
	Type, Name, FieldType string
	Access                Access
	Line                  string // "file.go:12" of the first load or store
}

// Elem has the elements of a slice, an array, a map, or what a pointer points to.
type Elem struct {
	Type   string // of the slice, array, map or pointer
	Access Access
	Line   string
}

// Global is a variable of a package. Ptr is its address; a variable that the generated file cannot
// name is an entry of Opaque.
type Global struct {
	Name, Type string
	Access     Access
	Line       string
	Ptr        any
}

// Body is the code of a function value: the path of its package, which is "main" for that of a
// command, the base name of its file, and the line where it begins.
type Body struct {
	Package, File string
	Line          int
}

// Loop is a loop of Go code, by the path of its package and the base name of its file, as with Body. All its rounds from the second on make the
// same calls, of the tensors that the round before has made, and of the slices of other tensors that have the number of the round.
type Loop struct {
	Package, File  string
	Line, From, To int // of its for, and of the first and the last line of its body
}

// Tell is a call that tells people something, of words that the function does not store. Do is a func(*In) of the struct of
// arguments, which makes the call, or for package log/slog a func(*In) (*slog.Logger, slog.Level, string, []any), which says
// what is logged.
type Tell struct {
	Line, What string
	Do         any
}

// Place is a line of the code, what stands there, and why it is listed. A call comes to it only where all conditions
// of When hold. Lazy tells that the tensors of the function may belong to a session meanwhile: the place is given none, and
// waits for no other goroutine.
type Place struct {
	Line, What, Why string
	When            []Cond
	Lazy            bool
}
