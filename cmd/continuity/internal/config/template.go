package config

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed continuity.yaml.tmpl
var templateText string

var fileTemplate = template.Must(template.New(FileName).Parse(templateText))

// Initial is what `init` writes into a new file.
type Initial struct {
	Endpoint, Runtime, KeyID string
	Actions                  string
}

// Render is the text of a new continuity.yaml.
func (i Initial) Render() ([]byte, error) {
	i.Actions = strings.Join(actions, ", ")
	var out bytes.Buffer
	err := fileTemplate.Execute(&out, i)
	return out.Bytes(), err
}

// NewKeyID is an id for the key of a project, which people recognize and no other
// project has.
func NewKeyID(dir string) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // it never fails
	name := strings.Trim(notInNames.ReplaceAllString(filepath.Base(dir), "-"), "-_")
	if name == "" {
		name = "project"
	}
	return name[:min(len(name), 40)] + "-" + hex.EncodeToString(random[:])
}
