package diag

// passCodes explains the codes FX3xxx: graph transformations.
var passCodes = []Info{}
