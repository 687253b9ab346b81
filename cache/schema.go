package cache

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed config.schema.json
var schemaText []byte

// Schema is the JSON Schema (draft 2020-12) of the config.
func Schema() []byte { return bytes.Clone(schemaText) }

// schemaURL names the schema; nothing is ever fetched from it.
const schemaURL = "urn:stenciltune:config:v1"

// noLoader refuses every reference to another schema: jsonschema would open
// file: references, so none but the embedded schema may ever be compiled.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("schema %s: references are not followed", url)
}

// compiled is the embedded schema, ready to use.
var compiled = sync.OnceValue(func() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	if err != nil {
		panic("cache: embedded schema: " + err.Error())
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		panic("cache: embedded schema: " + err.Error())
	}
	return c.MustCompile(schemaURL)
})

// validate checks a document that scan or encoding/json vouches for.
func validate(data []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	err = compiled().Validate(doc)
	v, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	return schemaError(v)
}

// shownErrors is how many of a document's errors are told at once.
const shownErrors = 5

// schemaError words the innermost findings of a validation, in order.
func schemaError(v *jsonschema.ValidationError) error {
	var found []string
	var walk func(u jsonschema.OutputUnit)
	walk = func(u jsonschema.OutputUnit) {
		for _, e := range u.Errors {
			walk(e)
		}
		if len(u.Errors) == 0 && u.Error != nil {
			text := fmt.Sprintf("at '%s': %s", printable(u.InstanceLocation), printable(u.Error.String()))
			if !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
	}
	walk(*v.DetailedOutput())
	slices.Sort(found)
	if n := len(found); n > shownErrors {
		found = append(found[:shownErrors], fmt.Sprintf("and %d more", n-shownErrors))
	}
	return errors.New("config: " + strings.Join(found, "; "))
}

// printable makes text from a document fit for a message: no control or
// direction characters, and not too long.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "..."
	}
	return s
}

// Limits on documents from anywhere. Ours have a few KiB and six levels.
const (
	// MaxConfig is the longest document that is read or written, in bytes.
	MaxConfig = 4 << 20
	// maxDepth is how deep values may nest.
	maxDepth = 32
	// maxNumber is the longest number, in characters: 17 digits tell any two
	// floats apart, so 64 are plenty.
	maxNumber = 64
)

// pointer is a JSON pointer of names and indices.
func pointer(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return printable(b.String())
}

// scan refuses what a JSON Schema does not see, before anything else looks at a
// document: too large, not UTF-8, not JSON, too deep, a name given twice (of
// which encoding/json keeps the last one), a number no float64 can hold (which
// would be computed exactly, digit by digit, to validate it).
func scan(data []byte) error {
	if len(data) > MaxConfig {
		return fmt.Errorf("config: %d bytes, more than %d", len(data), MaxConfig)
	}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return errors.New("config: begins with a byte order mark; save it without")
	}
	if !utf8.Valid(data) {
		return errors.New("config: is not UTF-8 text")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return syntaxError(data, err)
	}
	return scanValues(data)
}

// syntaxError says where a document ceases to be JSON.
func syntaxError(data []byte, err error) error {
	s, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return fmt.Errorf("config: %w", err)
	}
	before := data[:min(max(int(s.Offset)-1, 0), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1) + 1
	return fmt.Errorf("config:%d:%d: %s", line, column, printable(s.Error()))
}

// level is an object or an array that scanValues is in.
type level struct {
	names map[string]bool // seen in this object; nil in an array
	name  string          // of the member that comes, once wanted is false
	index int             // of the element that comes
	named bool            // a member's name was read and its value comes
}

// scanValues walks through valid JSON token by token: depth, names, numbers.
func scanValues(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var stack []level
	path := func() string {
		parts := make([]string, len(stack))
		for i, l := range stack {
			parts[i] = l.name
			if l.names == nil {
				parts[i] = strconv.Itoa(l.index)
			}
		}
		return pointer(parts...)
	}
	for {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("config: at '%s': %w", path(), err)
		}
		if name, ok := t.(string); ok && len(stack) > 0 {
			if top := &stack[len(stack)-1]; top.names != nil && !top.named {
				top.name, top.named = name, true
				if top.names[name] {
					return fmt.Errorf("config: at '%s': the field is given twice", path())
				}
				top.names[name] = true
				continue
			}
		}
		switch v := t.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				if len(stack) == maxDepth {
					return fmt.Errorf("config: at '%s': nested deeper than %d levels", path(), maxDepth)
				}
				l := level{}
				if v == '{' {
					l.names = map[string]bool{}
				}
				stack = append(stack, l)
				continue
			}
			stack = stack[:len(stack)-1]
		case json.Number:
			if why := wrongNumber(string(v)); why != "" {
				return fmt.Errorf("config: at '%s': the number %.40s %s", path(), string(v), why)
			}
		}
		if len(stack) > 0 { // a value ended
			top := &stack[len(stack)-1]
			top.named = false
			top.index++
		}
	}
}

// wrongNumber tells why a number is refused, or "".
func wrongNumber(text string) string {
	if len(text) > maxNumber {
		return "is too long"
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(text[i+1:]); err != nil || e < -400 || e > 400 {
			return "is out of range"
		}
	}
	if f, err := strconv.ParseFloat(text, 64); err != nil || math.IsInf(f, 0) {
		return "is out of range"
	}
	return ""
}
