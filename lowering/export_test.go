package lowering

// Trim removes files beyond most bytes.
func (f Folder) Trim(most int64) { f.trim(most) }

// Waiting returns how many runs wait for another to end.
func (e *Pieces) Waiting() int { return e.serial.Waiting() }
