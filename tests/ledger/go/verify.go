// Verifies signed notes, roots and proofs with golang.org/x/mod/sumdb, which shares no code with this project.
//
// Reads one JSON case from standard input and prints one JSON list of what it found wrong.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type proof struct {
	Index int64    `json:"index"`
	Old   int64    `json:"old"`
	Size  int64    `json:"size"`
	Path  [][]byte `json:"path"`
}

type input struct {
	Key         string            `json:"key"`
	SigningKey  string            `json:"signing_key"`
	Events      []string          `json:"events"`
	Notes       []string          `json:"notes"`
	Refuse      []string          `json:"refuse"`
	Roots       map[string][]byte `json:"roots"`
	Inclusion   []proof           `json:"inclusion"`
	Consistency []proof           `json:"consistency"`
}

type output struct {
	Problems []string `json:"problems"`
	Checked  int      `json:"checked"`
	Signed   string   `json:"signed"` // a note that Go signed, for Python to verify
}

func hashes(path [][]byte) []tlog.Hash {
	found := make([]tlog.Hash, len(path))
	for i, h := range path {
		copy(found[i][:], h)
	}
	return found
}

func main() {
	var in input
	out := output{Problems: []string{}}
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		panic(err)
	}
	wrong := func(format string, values ...interface{}) {
		out.Problems = append(out.Problems, fmt.Sprintf(format, values...))
	}

	// The tree, built by tlog from the events' bytes.
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, at := range indexes {
			found[i] = stored[at]
		}
		return found, nil
	})
	roots := map[int64]tlog.Hash{}
	for i, event := range in.Events {
		added, err := tlog.StoredHashes(int64(i), []byte(event), reader)
		if err != nil {
			panic(err)
		}
		stored = append(stored, added...)
		root, err := tlog.TreeHash(int64(i+1), reader)
		if err != nil {
			panic(err)
		}
		roots[int64(i+1)] = root
		out.Checked++
		if claimed := in.Roots[fmt.Sprint(i+1)]; string(claimed) != string(root[:]) {
			wrong("root of %d events: %x here, %x claimed", i+1, root[:], claimed)
		}
	}

	verifier, err := note.NewVerifier(in.Key)
	if err != nil {
		panic(err)
	}
	for _, text := range in.Notes {
		out.Checked++
		opened, err := note.Open([]byte(text), note.VerifierList(verifier))
		if err != nil {
			wrong("note: %v", err)
			continue
		}
		lines := strings.Split(opened.Text, "\n")
		var size int64
		fmt.Sscan(lines[1], &size)
		root := roots[size]
		if lines[2] != base64.StdEncoding.EncodeToString(root[:]) {
			wrong("note: its root is not that of the first %d events", size)
		}
	}
	for _, text := range in.Refuse {
		out.Checked++
		if _, err := note.Open([]byte(text), note.VerifierList(verifier)); err == nil {
			wrong("accepted: %s", text)
		}
	}
	for _, p := range in.Inclusion {
		out.Checked++
		leaf := tlog.RecordHash([]byte(in.Events[p.Index]))
		if err := tlog.CheckRecord(hashes(p.Path), p.Size, roots[p.Size], p.Index, leaf); err != nil {
			wrong("inclusion of %d in %d: %v", p.Index, p.Size, err)
		}
	}
	for _, p := range in.Consistency {
		out.Checked++
		if err := tlog.CheckTree(hashes(p.Path), p.Size, roots[p.Size], p.Old, roots[p.Old]); err != nil {
			wrong("consistency of %d with %d: %v", p.Size, p.Old, err)
		}
	}

	signer, err := note.NewSigner(in.SigningKey)
	if err != nil {
		panic(err)
	}
	signed, err := note.Sign(&note.Note{Text: "signed by Go\n"}, signer)
	if err != nil {
		panic(err)
	}
	out.Signed = string(signed)
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
