package codegen

// File is one generated file.
type File struct {
	Name string // without a folder
	Data []byte
}

// Files are generated files in a fixed order.
type Files struct{ List []File }

// Add appends a file.
func (f *Files) Add(name string, data []byte) { f.List = append(f.List, File{Name: name, Data: data}) }

// Get returns the contents of a file, nil when there is none of that name.
func (f *Files) Get(name string) []byte {
	for _, x := range f.List {
		if x.Name == name {
			return x.Data
		}
	}
	return nil
}
