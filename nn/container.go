package nn

import (
	"strconv"

	"github.com/gofx-dev/gofx/tensor"
)

// Sequential is torch.nn.Sequential: it passes its input through the modules in
// order. They are named by their index.
type Sequential struct {
	Modules []Module `fx:"."`
}

// NewSequential returns the modules one after the other.
func NewSequential(modules ...Module) *Sequential { return &Sequential{modules} }

// Forward runs the modules in order.
func (m *Sequential) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, c := range m.Modules {
		x = Run(c, x)
	}
	return x
}

// Child is a module with a name.
type Child struct {
	Name   string
	Module any
}

// Named gives a module a name, for NewNamedSequential and NewModuleDict.
func Named(name string, m any) Child { return Child{name, m} }

// walkChild visits a module under a name and a Go expression below its parent;
// without an expression, what is in it has none either.
func walkChild(name, selector string, m any, visit func(tensor.Item) bool) {
	tensor.Walk(m, func(it tensor.Item) bool {
		if it.Path == "" {
			it.Path = name
		} else {
			it.Path = name + "." + it.Path
		}
		if selector == "" {
			it.Selector = ""
		} else {
			it.Selector = selector + it.Selector
		}
		return visit(it)
	})
}

// NamedSequential is torch.nn.Sequential made of an ordered dictionary: it passes
// its input through the modules in order, which have names of their own.
type NamedSequential struct {
	Names   []string
	Modules []Module
}

// NewNamedSequential returns the modules one after the other; each must have one
// input and one result.
func NewNamedSequential(c ...Child) *NamedSequential {
	m := &NamedSequential{}
	for _, k := range c {
		f, ok := k.Module.(Module)
		if !ok {
			notRunnable(k.Module, "the module "+k.Name+" has no Forward from one tensor to one", "write a module that calls it")
		}
		m.Names, m.Modules = append(m.Names, k.Name), append(m.Modules, f)
	}
	return m
}

// Forward runs the modules in order.
func (m *NamedSequential) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, c := range m.Modules {
		x = Run(c, x)
	}
	return x
}

// Walk implements tensor.Walker.
func (m *NamedSequential) Walk(visit func(tensor.Item) bool) {
	for i, c := range m.Modules {
		walkChild(m.Names[i], ".Modules["+strconv.Itoa(i)+"]", c, visit)
	}
}

// ModuleList is torch.nn.ModuleList: modules named by their index. Any slice of
// modules does the same; this one holds modules of different types.
type ModuleList []any

// ModuleDict is torch.nn.ModuleDict: modules with names, in order.
type ModuleDict struct{ Children []Child }

// NewModuleDict returns a dictionary of modules.
func NewModuleDict(c ...Child) *ModuleDict { return &ModuleDict{c} }

// Get returns the module of that name, nil when there is none.
func (m *ModuleDict) Get(name string) any {
	for _, c := range m.Children {
		if c.Name == name {
			return c.Module
		}
	}
	return nil
}

// Forward runs the module of that name.
func (m *ModuleDict) Forward(name string, in ...*tensor.Tensor) *tensor.Tensor {
	c := m.Get(name)
	if c == nil {
		notRunnable(m, "there is no module "+name, "")
	}
	return Run(c, in...)
}

// Walk implements tensor.Walker.
func (m *ModuleDict) Walk(visit func(tensor.Item) bool) {
	for _, c := range m.Children {
		walkChild(c.Name, "", c.Module, visit)
	}
}
