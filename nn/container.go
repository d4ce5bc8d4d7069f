package nn

import (
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

// children is the walk of containers whose modules have names.
type children []Child

func (c children) walk(visit func(tensor.Item) bool) {
	for _, k := range c {
		tensor.Walk(k.Module, func(it tensor.Item) bool {
			if it.Path == "" {
				it.Path = k.Name
			} else {
				it.Path = k.Name + "." + it.Path
			}
			it.Selector = ""
			return visit(it)
		})
	}
}

// NamedSequential is torch.nn.Sequential made of an ordered dictionary: it passes
// its input through the modules in order, which have names of their own.
type NamedSequential struct{ Children []Child }

// NewNamedSequential returns the modules one after the other.
func NewNamedSequential(c ...Child) *NamedSequential { return &NamedSequential{c} }

// Forward runs the modules in order.
func (m *NamedSequential) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, c := range m.Children {
		x = Run(c.Module, x)
	}
	return x
}

// Walk implements tensor.Walker.
func (m *NamedSequential) Walk(visit func(tensor.Item) bool) { children(m.Children).walk(visit) }

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
func (m *ModuleDict) Walk(visit func(tensor.Item) bool) { children(m.Children).walk(visit) }
