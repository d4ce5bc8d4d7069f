package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/licences"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// TestTableHasEveryLinkedModule compares the table with what the go command would link. Texts are not compared: those
// of Go's library are the go command's own.
func TestTableHasEveryLinkedModule(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	modules, err := linked(root)
	require.NoError(t, err)
	var want, got [][3]string
	for _, m := range modules {
		want = append(want, [3]string{m.Path, m.Version, m.Program})
	}
	for _, m := range licences.All() {
		got = append(got, [3]string{m.Path, m.Version, m.Program})
	}
	require.Equal(t, want, got, "run go generate ./internal/licences")
	require.Contains(t, got, [3]string{"github.com/inconshreveable/mousetrap", "v1.1.0", "fxgen"}, "which only Windows links")
}

func TestLicencesAreKnownByTheirWords(t *testing.T) {
	for want, text := range map[string]string{
		"MIT":          "Permission is hereby granted,\nfree of charge, to any person ... without restriction",
		"BSD-3-Clause": "Redistribution and use in source and binary forms ... this list of conditions ... Neither the name of",
		"BSD-2-Clause": "Redistribution and use in source and binary\nforms ... this list of conditions",
		"Apache-2.0":   "Apache License\n                           Version 2.0, January 2004",
		"":             "All rights reserved.",
	} {
		require.Equal(t, want, idOf(text))
	}
	id, err := identified("example.com/both", []licences.Text{{Text: "Licensed under the Apache License, Version 2.0"}, {Text: "Permission is hereby granted, free of charge: without restriction"}})
	require.NoError(t, err)
	require.Equal(t, "Apache-2.0 AND MIT", id)
	_, err = identified("example.com/none", []licences.Text{{Text: "All rights reserved."}})
	require.EqualError(t, err, "example.com/none has no licence that is known here, want an entry in known or in declared")
	for _, m := range licences.All() {
		again, err := identified(m.Path, m.Texts)
		require.NoError(t, err)
		require.Equal(t, m.Licence, again, "%s: run go generate ./internal/licences", m.Path)
	}
	for _, name := range []string{"LICENSE", "LICENSE.md", "Licence.txt", "COPYING", "NOTICE", "LICENSE-MIT"} {
		require.True(t, fileName.MatchString(name), name)
	}
	require.False(t, fileName.MatchString("licence_test.go"))
}
