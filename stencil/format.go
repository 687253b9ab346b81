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
	braces   []brace // open ones
	parens   []bool  // open ones: whether they may be a cast's
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
	head     int  // indentation of the line that the next block closes beside
	control  bool // a loop's or a condition's parentheses are to close yet
	below    bool // the last token is that before the body of a loop or a condition
	ifs      []pending
}

// pending is an if that an else may follow.
type pending struct{ indent, depth int }

// brace is an open one.
type brace struct {
	initializer bool // or a block's
	indent      int  // of the line that it closes in
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
		f.newLine(token{})
	}
	f.out.WriteString(text)
	f.breaks = 0
}

// newLine begins the line of a token: of a statement, of the body of a loop or a condition, or a further one, which keeps its place beside
// the first.
func (f *formatter) newLine(t token) {
	if f.out.Len() > 0 {
		f.out.WriteString(strings.Repeat("\n", min(max(f.breaks, 1), 2)))
	}
	n, begins := f.within(), f.whole || f.prev.kind == tokEOF
	last := len(f.braces) - 1
	initializer := last >= 0 && f.braces[last].initializer || f.prev.text == "=" || f.ranged
	switch {
	case t.text == "}" && !initializer:
		n = f.braces[last].indent
	case t.text == "else" && len(f.ifs) > 0:
		n = f.ifs[len(f.ifs)-1].indent
	case begins || t.text == "}":
	case t.text == "{" && !initializer:
		n = f.head
	case f.below:
		n, begins = f.head+2, t.text != "" // of a comment the body is still to come
	default:
		n = max(n+2, f.written+f.indent-f.original)
	}
	if begins {
		f.original, f.written, f.head = f.indent, n, n
	}
	f.out.WriteString(strings.Repeat(" ", n))
}

// within is the indentation of a statement here.
func (f *formatter) within() int {
	for _, b := range slices.Backward(f.braces) {
		if !b.initializer {
			return b.indent + 2
		}
	}
	return 0
}

// token writes a token.
func (f *formatter) token(t token) {
	outside := len(f.braces) == 0 && len(f.parens) == 0
	isKey := outside && (slices.Contains(keys, t.text) || t.text == "#define")
	ended := outside && f.whole && f.prev.text != "{" // of a constant or a function
	begins := isKey || outside && (t.text == "const" || isLocalType(t) && f.breaks > 0 && f.prev.text != "DataType" && f.prev.text != "const")
	after := strings.HasSuffix(f.out.String()[max(0, f.out.Len()-1):], "/")
	switch {
	case f.out.Len() == 0:
	case f.breaks > 0 || begins || ended:
		f.whole = f.whole || begins
		f.newLine(t)
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
	f.below = t.text == "else"
	wasCast, set := false, false
	initializer := len(f.braces) > 0 && f.braces[len(f.braces)-1].initializer
	switch t.text {
	case "{":
		initializer = f.prev.text == "=" || initializer || f.ranged && len(f.braces) == 0
		f.braces = append(f.braces, brace{initializer, f.head})
		f.key = false
	case "}":
		if n := len(f.braces); n > 0 {
			f.braces = f.braces[:n-1]
		}
		for n := len(f.ifs); n > 0 && f.ifs[n-1].depth > len(f.braces); n-- {
			f.ifs = f.ifs[:n-1]
		}
	case "for":
		f.control = true
	case "if":
		f.control = true
		f.ifs = append(f.ifs, pending{f.head, len(f.braces)})
	case "else":
		if n := len(f.ifs); n > 0 {
			f.ifs = f.ifs[:n-1]
		}
	case "(":
		f.parens = append(f.parens, f.prev.kind != tokName || f.prev.text == "return")
	case ")":
		if n := len(f.parens); n > 0 {
			wasCast, f.parens = f.parens[n-1] && isLocalType(f.prev), f.parens[:n-1]
		}
		if len(f.parens) == 0 {
			f.below, f.control = f.control, false
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
	initializer := len(f.braces) > 0 && f.braces[len(f.braces)-1].initializer
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
