package diag

// traceCodes explains the codes FX1xxx: capture of Go functions and modules.
var traceCodes = []Info{}
