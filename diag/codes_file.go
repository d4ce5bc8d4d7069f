package diag

// fileCodes explains the codes FX8xxx: files and weights.
var fileCodes = []Info{}
