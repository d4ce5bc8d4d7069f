package nn

import (
	"runtime"
	"slices"
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
	runtime.KeepAlive(m) // a trace reads on the stack whose Forward runs
	return x
}

// Child is a module with a name.
type Child struct {
	Name   string
	Module any
}

// Named gives a module a name, for NewNamedSequential and NewModuleDict.
func Named(name string, m any) Child { return Child{name, m} }

// Children are modules with names, in order: the part of NamedSequential and
// ModuleDict that tells their names, and of containers of the user's own, as a
// field tagged `fx:"."`.
type Children[M any] struct {
	Names   []string
	Modules []M
}

// Append adds a module at the end.
func (c *Children[M]) Append(name string, m M) {
	c.Names, c.Modules = append(c.Names, name), append(c.Modules, m)
}

// Walk implements tensor.Walker.
func (c *Children[M]) Walk(visit func(tensor.Item) bool) {
	for i, m := range c.Modules {
		prefix := c.Names[i]
		tensor.Walk(m, func(it tensor.Item) bool {
			if it.Path != "" {
				it.Path = "." + it.Path
			}
			it.Path = prefix + it.Path
			it.Selector = ".Modules[" + strconv.Itoa(i) + "]" + it.Selector
			return visit(it)
		})
	}
}

// NamedSequential is torch.nn.Sequential made of an ordered dictionary: it passes
// its input through the modules in order, which have names of their own.
type NamedSequential struct {
	Children Children[Module] `fx:"."`
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
		m.Append(k.Name, f)
	}
	return m
}

// Append adds a module at the end.
func (m *NamedSequential) Append(name string, c Module) { m.Children.Append(name, c) }

// Forward runs the modules in order.
func (m *NamedSequential) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, c := range m.Children.Modules {
		x = Run(c, x)
	}
	runtime.KeepAlive(m) // a trace reads on the stack whose Forward runs
	return x
}

// ModuleList is torch.nn.ModuleList: modules named by their index. Any slice of
// modules does the same; this one holds modules of different types.
type ModuleList []any

// ModuleDict is torch.nn.ModuleDict: modules with names, in order.
type ModuleDict struct {
	Children Children[any] `fx:"."`
}

// NewModuleDict returns a dictionary of modules.
func NewModuleDict(c ...Child) *ModuleDict {
	m := &ModuleDict{}
	for _, k := range c {
		m.Children.Append(k.Name, k.Module)
	}
	return m
}

// Get returns the module of that name, nil when there is none.
func (m *ModuleDict) Get(name string) any {
	if i := slices.Index(m.Children.Names, name); i >= 0 {
		return m.Children.Modules[i]
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
