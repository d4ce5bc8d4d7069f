package lowering

// Trim removes files beyond most bytes.
func (f Folder) Trim(most int64) { f.trim(most) }
