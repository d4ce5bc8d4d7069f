package fx

import "github.com/gofx-dev/gofx/graph"

// Save writes the graph and its tensors into a folder, which is made if
// necessary; see graph.Save. Equal modules give equal bytes.
func Save(dir string, g *GraphModule) error { return graph.Save(dir, g.Module) }

// Load reads the files of Save and makes the module callable; see graph.Load. The
// packages that define the operators must be linked. All mistakes in the files are
// returned at once as a diag.List.
func Load(dir string) (*GraphModule, error) {
	m, err := graph.Load(dir)
	if err != nil {
		return nil, err
	}
	return NewGraphModule(m), nil
}
