package stencil

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on a stencil file, checked before and while parsing so that no input
// can exhaust the stack or the memory.
const (
	maxFileBytes = 64 << 10
	maxDepth     = 200
	maxTokens    = 20000
	maxRadius    = 16
	maxParsed    = 200000 // tokens read while parsing: an unrolled loop reads its body again
	maxNames     = 64     // fields, read-only arrays, scalars or stages
)

// SyntaxError is a fault in a stencil file and where it stands.
type SyntaxError struct {
	File      string
	Line, Col int    // from 1; Col counts bytes
	Text      string // the line
	Msg       string // what is wrong and what to do
}

// Error gives file:line:col, the message, the line and a caret.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	col := min(max(e.Col-1, 0), len(e.Text))
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, e.Text[:col])
	return fmt.Sprintf("%s:%d:%d: %s\n\t%s\n\t%s^", e.File, e.Line, e.Col, e.Msg, e.Text, pad)
}

type tokenKind int

const (
	tokEOF tokenKind = iota
	tokName
	tokNumber
	tokPunct // an operator or a mark
)

type token struct {
	kind      tokenKind
	text      string
	line, col int
}

func (t token) String() string {
	if t.kind == tokEOF {
		return "end of file"
	}
	return fmt.Sprintf("%.40q", t.text)
}

// puncts are the operators and marks, the longest first.
var puncts = []string{
	"<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "++", "--",
	"#define", "(", ")", "[", "]", "{", "}", ",", ";", "=", "+", "-", "*", "/", "%", "<", ">", "!", "?", ":", ".",
}

// lexer cuts a stencil file into tokens; comments are /* */, // and #.
type lexer struct {
	file  string
	lines []string
	src   string
	pos   int
	line  int
	start int // offset of the current line
}

func (l *lexer) errorAt(line, col int, format string, args ...any) *SyntaxError {
	text := ""
	if line >= 1 && line <= len(l.lines) {
		text = strings.TrimSuffix(l.lines[line-1], "\r")
		text = strings.Map(printable, strings.ToValidUTF8(text[:min(len(text), 160)], "?"))
	}
	return &SyntaxError{File: l.file, Line: line, Col: col, Text: text, Msg: fmt.Sprintf(format, args...)}
}

// printable keeps control characters of a file from reaching a terminal.
func printable(r rune) rune {
	if r == '\t' || unicode.IsPrint(r) {
		return r
	}
	return '?'
}

func (l *lexer) here() (line, col int) { return l.line, l.pos - l.start + 1 }

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// skip passes white space and comments.
func (l *lexer) skip() error {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\n':
			l.pos++
			l.line++
			l.start = l.pos
		case c == ' ' || c == '\t' || c == '\r':
			l.pos++
		case l.word() == "define": // a token: it may name a number
			return nil
		case c == '#' || strings.HasPrefix(l.src[l.pos:], "//"):
			if err := l.directive(); err != nil {
				return err
			}
			for l.pos < len(l.src) && l.src[l.pos] != '\n' {
				l.pos++
			}
		case strings.HasPrefix(l.src[l.pos:], "/*"):
			line, col := l.here()
			end := strings.Index(l.src[l.pos+2:], "*/")
			if end < 0 {
				return l.errorAt(line, col, "comment is never closed; end it with */")
			}
			for i := 0; i < end+4; i++ {
				if l.src[l.pos] == '\n' {
					l.line++
					l.start = l.pos + 1
				}
				l.pos++
			}
		default:
			return nil
		}
	}
	return nil
}

// directives are the words that make a line of C's preprocessor, each with what to do instead. No preprocessor runs: as
// comments they would keep what #if leaves out.
var directives = func() map[string]string {
	all := map[string]string{}
	add := func(remedy string, words ...string) {
		for _, w := range words {
			all[w] = remedy
		}
	}
	add("remove it, and the lines that it leaves out", "if", "ifdef", "ifndef", "elif", "else", "endif")
	add("give the constant another name", "undef")
	add("remove it: functions like exp and sqrt are known", "include")
	add("remove it", "pragma", "line", "error", "warning")
	return all
}()

// word is what stands right after a #, where one is next.
func (l *lexer) word() string {
	if l.src[l.pos] != '#' {
		return ""
	}
	n := l.pos + 1
	for n < len(l.src) && l.src[n] >= 'a' && l.src[n] <= 'z' {
		n++
	}
	return l.src[l.pos+1 : n]
}

// directive refuses a comment that C's preprocessor would take for its own: a word right after #.
func (l *lexer) directive() error {
	word := l.word()
	remedy, ok := directives[word]
	if !ok {
		return nil
	}
	line, col := l.here()
	return l.errorAt(line, col, "no preprocessor reads #%s; %s", word, remedy)
}

// next gives the next token.
func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	line, col := l.here()
	if l.pos >= len(l.src) {
		return token{kind: tokEOF, line: line, col: col}, nil
	}
	begin := l.pos
	c := l.src[l.pos]
	switch {
	case isLetter(c):
		for l.pos < len(l.src) && (isLetter(l.src[l.pos]) || isDigit(l.src[l.pos])) {
			l.pos++
		}
		return token{tokName, l.src[begin:l.pos], line, col}, nil
	case isDigit(c) || c == '.' && (l.pos+1 == len(l.src) || !isLetter(l.src[l.pos+1])):
		for l.pos < len(l.src) {
			c := l.src[l.pos]
			sign := (c == '+' || c == '-') && l.pos > begin && (l.src[l.pos-1] == 'e' || l.src[l.pos-1] == 'E')
			if !isDigit(c) && !isLetter(c) && c != '.' && !sign {
				break
			}
			l.pos++
		}
		return token{tokNumber, l.src[begin:l.pos], line, col}, nil
	}
	for _, p := range puncts {
		if strings.HasPrefix(l.src[l.pos:], p) {
			l.pos += len(p)
			return token{tokPunct, p, line, col}, nil
		}
	}
	r, n := utf8.DecodeRuneInString(l.src[l.pos:])
	l.pos += n
	return token{}, l.errorAt(line, col, "%s", noMeaning(r))
}

// tokens cuts the whole file.
func (l *lexer) tokens() ([]token, error) {
	var all []token
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		if t.kind == tokEOF {
			return all, nil
		}
		if len(all) > maxTokens {
			return nil, l.errorAt(t.line, t.col, "more than %d tokens; a stencil is shorter than that", maxTokens)
		}
	}
}
