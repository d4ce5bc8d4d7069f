package state

import (
	"regexp"
	"slices"
)

// ofMain matches the package of a type of a program within a name.
var ofMain = regexp.MustCompile(`(^|[^\w./~-])main\.`)

// inTest returns the table with the names that types of a program have in the test of its package. In the
// program itself the path of the package is main; in the test it is the import path, own.
func (t *Table) inTest(own string) *Table {
	if own == "" || own == "main" {
		return t
	}
	rename := func(name *string) { *name = ofMain.ReplaceAllString(*name, "${1}"+own+".") }
	c := *t
	c.Fields, c.Elems, c.Dynamic, c.Bodies = slices.Clone(t.Fields), slices.Clone(t.Elems), slices.Clone(t.Dynamic), slices.Clone(t.Bodies)
	c.Globals, c.Hidden = slices.Clone(t.Globals), slices.Clone(t.Hidden)
	for i := range c.Fields {
		rename(&c.Fields[i].Type)
		rename(&c.Fields[i].FieldType)
	}
	for i := range c.Elems {
		rename(&c.Elems[i].Type)
	}
	for i := range c.Dynamic {
		rename(&c.Dynamic[i])
	}
	c.Opaque = slices.Clone(t.Opaque)
	for i := range c.Opaque {
		c.Opaque[i].When = slices.Clone(c.Opaque[i].When)
		for k := range c.Opaque[i].When {
			rename(&c.Opaque[i].When[k].Type)
		}
	}
	c.Numbers = slices.Clone(t.Numbers)
	for i := range c.Numbers {
		rename(&c.Numbers[i].Type)
	}
	for i := range c.Globals {
		rename(&c.Globals[i].Type)
	}
	for i := range c.Hidden {
		h := &c.Hidden[i]
		rename(&h.Dynamic)
		h.Names = slices.Clone(h.Names)
		for k := range h.Names {
			rename(&h.Names[k])
		}
	}
	for i := range c.Bodies {
		if c.Bodies[i].Package == "main" {
			c.Bodies[i].Package = own
		}
	}
	return &c
}
