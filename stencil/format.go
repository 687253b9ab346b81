package stencil

import (
	"slices"
	"strings"
)

// Format gives a stencil file in one layout: blocks indented by two spaces, a key a line, one space around operators and
// none inside of parentheses. Comments, and where lines break otherwise, are the author's. What it gives it leaves as it
// is, and it means the same. file is used in errors, which are Parse's.
func Format(file, src string) (string, error) {
	if _, err := Parse("s", file, src); err != nil {
		return "", err
	}
	f := formatter{lexer: lexer{file: file, src: src, line: 1, lines: strings.Split(src, "\n")}}
	for end := 0; ; end = f.pos {
		t, err := f.next()
		if err != nil {
			return "", err
		}
		f.gap(src[end : f.pos-len(t.text)])
		if t.kind == tokEOF {
			break
		}
		f.token(t)
	}
	return strings.TrimRight(f.out.String(), "\n ") + "\n", nil
}

// formatter writes the tokens and comments of a file again.
type formatter struct {
	lexer
	out      strings.Builder
	braces   []bool // open ones: whether they are an initializer's
	parens   []bool // open ones: whether they may be a cast's
	prev     token
	breaks   int  // line breaks since the last token or comment
	indent   int  // of the original line, of this break
	whole    bool // the last token ends a statement or a block, or begins one
	original int  // indentation of the line in which the statement begins, as it was
	written  int  // and as it is
	unary    bool // the last token is a sign
	cast     bool // the last token closes a cast's parenthesis
	key      bool // a key's value is being written
	color    bool // and it is Color's, where signs stand between names
	ranged   bool // within an InputRange, whose braces are a set's
}

// gap writes the comments between two tokens and notes the line breaks.
func (f *formatter) gap(text string) {
	spaces := 0
	f.breaks = 0
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\n':
			f.breaks++
			spaces, f.indent = 0, 0
			i++
		case text[i] == '#' || strings.HasPrefix(text[i:], "//"):
			n := strings.IndexByte(text[i:]+"\n", '\n')
			f.comment(strings.TrimRight(text[i:i+n], " \t\r"), spaces)
			i += n
		case text[i] == '/':
			n := strings.Index(text[i+2:], "*/") + 4
			f.comment(text[i:i+n], spaces)
			i += n
			spaces = 0
		default:
			if text[i] != '\r' {
				spaces++
				f.indent++
			}
			i++
		}
	}
}

// comment writes one on its own line or behind what was written.
func (f *formatter) comment(text string, spaces int) {
	if f.out.Len() > 0 && f.breaks == 0 {
		f.out.WriteString(strings.Repeat(" ", max(1, spaces)))
	} else {
		f.whole = f.whole || len(f.braces)+len(f.parens) == 0
		f.newLine(false)
	}
	f.out.WriteString(text)
	f.breaks = 0
}

// newLine begins a line: of a statement, or a further one of it, which keeps its place beside the first.
func (f *formatter) newLine(closing bool) {
	if f.out.Len() > 0 {
		f.out.WriteString(strings.Repeat("\n", min(max(f.breaks, 1), 2)))
	}
	n := 0
	for i, initializer := range f.braces {
		if !initializer && !(closing && i == len(f.braces)-1) {
			n += 2
		}
	}
	if f.whole || f.prev.kind == tokEOF {
		f.original, f.written = f.indent, n
	} else if !closing {
		n = max(n+2, f.written+f.indent-f.original)
	}
	f.out.WriteString(strings.Repeat(" ", n))
}

// token writes a token.
func (f *formatter) token(t token) {
	outside := len(f.braces) == 0 && len(f.parens) == 0
	isKey := outside && (slices.Contains(keys, t.text) || t.text == "#define")
	ended := outside && f.whole && f.prev.text != "{" // of a constant or a function
	begins := isKey || outside && (t.text == "const" || isLocalType(t) && f.breaks > 0 && f.prev.text != "DataType" && f.prev.text != "const" && !isTypeWord(f.prev))
	after := strings.HasSuffix(f.out.String()[max(0, f.out.Len()-1):], "/")
	switch {
	case f.out.Len() == 0:
	case f.breaks > 0 || begins || ended:
		f.whole = f.whole || begins
		f.newLine(t.text == "}")
	case after || f.space(t): // behind a comment, too
		f.out.WriteByte(' ')
	}
	f.key = f.key && !begins
	f.follow(t, isKey)
	f.out.WriteString(t.text)
	f.prev = t
}

// follow notes what a token opens, closes and is.
func (f *formatter) follow(t token, isKey bool) {
	value := f.prev.kind == tokName && f.prev.text != "return" || f.prev.kind == tokNumber || f.prev.text == ")" && !f.cast || f.prev.text == "]"
	f.unary = (t.text == "-" || t.text == "+" || t.text == "!") && (!value || f.key && !f.color && len(f.braces) == 0)
	if t.text == "++" || t.text == "--" {
		f.unary = !value
	}
	wasCast, set := false, false
	initializer := len(f.braces) > 0 && f.braces[len(f.braces)-1]
	switch t.text {
	case "{":
		f.braces = append(f.braces, f.prev.text == "=" || initializer || f.ranged && len(f.braces) == 0)
		initializer = f.braces[len(f.braces)-1]
		f.key = false
	case "}":
		if n := len(f.braces); n > 0 {
			f.braces = f.braces[:n-1]
		}
	case "(":
		f.parens = append(f.parens, f.prev.kind != tokName || f.prev.text == "return")
	case ")":
		if n := len(f.parens); n > 0 {
			wasCast, f.parens = f.parens[n-1] && isLocalType(f.prev), f.parens[:n-1]
		}
	default:
		if n := len(f.parens); n > 0 && !isLocalType(t) {
			f.parens[n-1] = false
		}
	}
	f.cast = wasCast
	if len(f.braces)+len(f.parens) == 0 {
		f.key = isKey || f.key && t.text != "}"
		f.color = isKey && t.text == "Color" || f.color && !isKey
		set = f.ranged && t.text == "}"
		f.ranged = isKey && t.text == "InputRange" || f.ranged && !isKey && t.text != ")" && t.text != "}"
	}
	f.whole = (!initializer || set) && len(f.parens) == 0 && (t.text == ";" || t.text == "{" || t.text == "}")
}

// space tells whether one comes between the last token and this one.
func (f *formatter) space(t token) bool {
	p := f.prev
	initializer := len(f.braces) > 0 && f.braces[len(f.braces)-1]
	sign := t.text == "-" || t.text == "+" || t.text == "--" || t.text == "++"
	switch {
	case f.unary:
		return sign // two of them are another token
	case p.text == "(" || p.text == "[" || p.text == "." || t.text == "." || f.cast:
		return false
	case t.text == ")" || t.text == "]" || t.text == "," || t.text == ";":
		return false
	case t.text == "++" || t.text == "--":
		return p.kind != tokName && p.text != "]"
	case p.text == "{" && initializer || t.text == "}" && initializer:
		return false
	case t.text == "[":
		return p.kind != tokName && p.text != "]"
	case t.text == ":" && len(f.braces) == 0:
		return false
	case t.text == "(" && p.kind == tokName:
		word := p.text == "if" || p.text == "for" || p.text == "return" || p.text == "else"
		return word || f.key && len(f.braces) == 0 && len(f.parens) == 0
	}
	return true
}
