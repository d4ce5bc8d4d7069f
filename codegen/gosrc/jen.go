package gosrc

import (
	"strconv"

	"github.com/dave/jennifer/jen"
)

// From names something of a room of this module: From("array", "Dense").
func From(room, name string) *jen.Statement { return jen.Qual(Root+room, name) }

// Quoted is a string literal that holds ASCII alone.
func Quoted(s string) *jen.Statement { return jen.Op(strconv.QuoteToASCII(s)) }

// IfErr returns results when err is not nil.
func IfErr(results ...jen.Code) *jen.Statement {
	return jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(results...))
}

// IfErrOf returns results when call returns an error.
func IfErrOf(call jen.Code, results ...jen.Code) *jen.Statement {
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(results...))
}

// IDs are identifiers as expressions.
func IDs(names []string) []jen.Code {
	list := make([]jen.Code, len(names))
	for i, n := range names {
		list[i] = jen.Id(n)
	}
	return list
}

// Ints are numbers as expressions.
func Ints(numbers []int) []jen.Code {
	list := make([]jen.Code, len(numbers))
	for i, n := range numbers {
		list[i] = jen.Lit(n)
	}
	return list
}

// Fields are struct fields of one type, several on a line.
func Fields(names []string, typ jen.Code) []jen.Code {
	var lines []jen.Code
	for len(names) > 0 {
		n, width := 1, len(names[0])
		for n < len(names) && width+len(names[n]) < 90 {
			width += len(names[n]) + 2
			n++
		}
		lines = append(lines, jen.List(IDs(names[:n])...).Add(typ))
		names = names[n:]
	}
	return lines
}

// Multiline prints a list with one element a line between brackets.
func Multiline() jen.Options {
	return jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}
}
