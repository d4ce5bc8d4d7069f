package diag

// quantCodes explains the codes FX6xxx: quantisation.
var quantCodes = []Info{}
