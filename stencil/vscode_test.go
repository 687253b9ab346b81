package stencil

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// grammarWords are the words of the language by their scope in the VS Code grammar.
func grammarWords() map[string][]string {
	types := slices.Sorted(maps.Keys(typeWords))
	functions := append(slices.Sorted(maps.Keys(mathFuncs)), slices.Sorted(maps.Keys(choices))...)
	return map[string][]string{
		"keyword.other.key.stencil":    keys,
		"keyword.control.stencil":      {"if", "else", "for", "return"},
		"storage.modifier.stencil":     {"const", "#define"},
		"storage.type.stencil":         append(types, "bool"),
		"support.constant.stencil":     {string(Clamp), string(Mirror), string(Wrap), string(Constant), string(Fixed), "low", "high", "sum", "every"},
		"support.function.stencil":     append(functions, "get", "read"),
		"variable.language.stencil":    {"x", "y", "z", "iteration", "input_size", "value"},
		"comment.line.stencil":         {"#", "//"},
		"comment.block.stencil":        {"/*", "*/"},
		"constant.numeric.stencil":     {"12", "1.5e-3f", ".5"},
		"keyword.operator.stencil":     {"+", "<=", "&&", "?"},
		"entity.name.function.stencil": {"minmod(", "flow ("},
	}
}

// TestTheGrammarOfVSCodeHasTheLanguagesWords holds docs/vscode to the parser's own lists.
func TestTheGrammarOfVSCodeHasTheLanguagesWords(t *testing.T) {
	text, err := os.ReadFile("../docs/vscode/syntaxes/stencil.tmLanguage.json")
	if err != nil {
		t.Fatal(err)
	}
	var grammar struct {
		ScopeName string
		Patterns  []struct{ Name, Match, Begin, End string }
	}
	if err := json.Unmarshal(text, &grammar); err != nil {
		t.Fatal(err)
	}
	for scope, words := range grammarWords() {
		i := slices.IndexFunc(grammar.Patterns, func(p struct{ Name, Match, Begin, End string }) bool { return p.Name == scope })
		if i < 0 {
			t.Errorf("the grammar has no %s", scope)
			continue
		}
		p := grammar.Patterns[i]
		if p.Begin != "" {
			if p.Begin+" "+p.End != `/\* \*/` {
				t.Errorf("%s begins with %s and ends with %s", scope, p.Begin, p.End)
			}
			continue
		}
		list := regexp.MustCompile(strings.ReplaceAll(p.Match, "(?=", "(?:")) // Go has no lookahead
		for _, w := range words {
			if got := list.FindString(w); got != w {
				t.Errorf("%s matches %q of %q", scope, got, w)
			}
		}
		if _, inner, ok := strings.Cut(p.Match, `\b(`); ok && len(words) > 3 { // and no others
			for w := range strings.SplitSeq(strings.TrimSuffix(inner, `)\b`), "|") {
				if w = strings.TrimSuffix(w, "f?"); !slices.Contains(words, w) {
					t.Errorf("%s has %q, which the language has not", scope, w)
				}
			}
		}
	}
}
