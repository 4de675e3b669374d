package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// decoder fills a struct from YAML strictly. Unlike those of the yaml package its
// errors give the whole key and never the value, which may be a secret.
type decoder struct {
	errors []error
	lines  map[string]int // of keys
}

// decode fills what a pointer to a struct points to.
func (d *decoder) decode(node *yaml.Node, into any) {
	d.lines = map[string]int{}
	d.value(node, reflect.ValueOf(into).Elem(), "")
}

// refuse says what is wrong with a key.
func (d *decoder) refuse(key string, err error) {
	if err != nil {
		d.fail(d.lines[key], key, "%v", err)
	}
}

func (d *decoder) fail(line int, key, format string, args ...any) {
	where := FileName
	if line > 0 {
		where = fmt.Sprintf("%s:%d", where, line)
	}
	if key == "" {
		key = "the file"
	}
	d.errors = append(d.errors, fmt.Errorf("%s: %s: %s", where, key, fmt.Sprintf(format, args...)))
}

var duration = reflect.TypeFor[time.Duration]()

func (d *decoder) value(node *yaml.Node, into reflect.Value, key string) {
	d.lines[key] = node.Line
	if node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		return // not stated
	}
	if into.Type() == duration {
		parsed, err := time.ParseDuration(node.Value)
		if node.Kind != yaml.ScalarNode || err != nil || parsed <= 0 {
			d.fail(node.Line, key, "must be a duration such as 1.5s")
		}
		into.SetInt(int64(parsed))
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		d.fields(node, into, key)
	case reflect.Map:
		d.entries(node, into, key)
	case reflect.Slice:
		if node.Kind != yaml.SequenceNode {
			d.fail(node.Line, key, "must be a list")
			return
		}
		into.Set(reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content)))
		for i, item := range node.Content {
			d.value(item, into.Index(i), fmt.Sprintf("%s[%d]", key, i))
		}
	case reflect.Bool:
		var b bool
		if node.Kind != yaml.ScalarNode || node.Tag != "!!bool" || node.Decode(&b) != nil {
			d.fail(node.Line, key, "must be true or false")
			return
		}
		into.SetBool(b)
	default:
		if node.Kind != yaml.ScalarNode {
			d.fail(node.Line, key, "must be a text")
			return
		}
		into.SetString(node.Value)
	}
}

func (d *decoder) fields(node *yaml.Node, into reflect.Value, key string) {
	known := map[string]reflect.Value{}
	for i := range into.NumField() {
		known[name(into.Type().Field(i))] = into.Field(i)
	}
	for child, value := range d.pairs(node, key) {
		field, ok := known[child.Value]
		if !ok {
			names := make([]string, 0, len(known))
			for n := range known {
				names = append(names, n)
			}
			slices.Sort(names)
			d.fail(child.Line, join(key, child.Value), "there is no such key; known are %s", strings.Join(names, ", "))
			continue
		}
		d.value(value, field, join(key, child.Value))
	}
}

// name is what a field is called in the file.
func name(field reflect.StructField) string {
	if tag := field.Tag.Get("yaml"); tag != "" {
		return tag
	}
	return strings.ToLower(field.Name)
}

func (d *decoder) entries(node *yaml.Node, into reflect.Value, key string) {
	into.Set(reflect.MakeMap(into.Type()))
	for child, value := range d.pairs(node, key) {
		item := reflect.New(into.Type().Elem()).Elem()
		d.value(value, item, join(key, child.Value))
		into.SetMapIndex(reflect.ValueOf(child.Value), item)
	}
}

// pairs goes over the keys of a mapping and their values.
func (d *decoder) pairs(node *yaml.Node, key string) func(func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if node.Kind != yaml.MappingNode {
			d.fail(node.Line, key, "must be a mapping of keys to values")
			return
		}
		seen := map[string]bool{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			child := node.Content[i]
			switch {
			case child.Kind != yaml.ScalarNode || child.Tag == "!!merge":
				d.fail(child.Line, key, "a key must be a text; merging is not supported")
				continue
			case seen[child.Value]:
				d.fail(child.Line, join(key, child.Value), "is there twice")
				continue
			}
			seen[child.Value] = true
			if !yield(child, node.Content[i+1]) {
				return
			}
		}
	}
}

func join(key, child string) string {
	if key == "" {
		return child
	}
	return key + "." + child
}
