// Type-checks the packages of a module again and again in one process, with their tests.
//
// A command a line in, an answer and a line with NUL out: "check" answers with errors, "references" with a line for each
// use of a name that the module declares: where it is declared, a tab, where it is used.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

type listed struct {
	ImportPath, Dir, Export, ForTest string
	GoFiles                          []string
	ImportMap                        map[string]string
	Module                           *struct {
		Main      bool
		GoVersion string
	}
}

// system is the module as one operating system sees it.
type system struct {
	packages []listed
	exports  types.Importer
	files    *token.FileSet
	parsed   map[string]source
}

type source struct {
	stamp string
	file  *ast.File
	err   error
}

func list(name string) (*system, error) {
	command := exec.Command("go", "list", "-e", "-export", "-deps", "-test", "-json=ImportPath,Dir,Export,ForTest,GoFiles,ImportMap,Module", "./...")
	command.Env = append(os.Environ(), "GOOS="+name, "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, err
	}
	found := &system{files: token.NewFileSet(), parsed: map[string]source{}}
	exported := map[string]string{}
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var one listed
		if err := decoder.Decode(&one); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		exported[one.ImportPath] = one.Export
		if one.Module != nil && one.Module.Main && !strings.HasSuffix(one.ImportPath, ".test") {
			found.packages = append(found.packages, one)
		}
	}
	found.exports = importer.ForCompiler(found.files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exported[path])
	})
	return found, nil
}

func (s *system) parse(path string) (*ast.File, error) {
	known, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	stamp := fmt.Sprint(known.Size(), known.ModTime())
	if one, ok := s.parsed[path]; ok && one.stamp == stamp {
		return one.file, one.err
	}
	file, err := parser.ParseFile(s.files, path, nil, parser.SkipObjectResolution)
	s.parsed[path] = source{stamp, file, err}
	return file, err
}

// checked is what the type checker found out; what is imported is looked up there first.
type checked struct {
	*system
	packages map[string]*types.Package
	mapped   map[string]string
}

func (c checked) Import(path string) (*types.Package, error) {
	if other, ok := c.mapped[path]; ok {
		path = other
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if known, ok := c.packages[path]; ok {
		return known, nil
	}
	return c.exports.Import(path)
}

func (s *system) check(use func(*types.Info)) []string {
	var errors []string
	packages := map[string]*types.Package{}
	for _, one := range s.packages {
		var files []*ast.File
		for _, name := range one.GoFiles {
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(one.Dir, name)
			}
			file, err := s.parse(path)
			if err != nil {
				errors = append(errors, "error: "+err.Error())
				continue
			}
			files = append(files, file)
		}
		config := types.Config{
			Importer: checked{s, packages, one.ImportMap},
			Error:    func(err error) { errors = append(errors, "error: "+err.Error()) },
		}
		if one.Module.GoVersion != "" {
			config.GoVersion = "go" + one.Module.GoVersion
		}
		info := &types.Info{
			Defs:      map[*ast.Ident]types.Object{},
			Uses:      map[*ast.Ident]types.Object{},
			Implicits: map[ast.Node]types.Object{},
		}
		path, _, _ := strings.Cut(one.ImportPath, " ")
		packages[one.ImportPath], _ = config.Check(path, s.files, files, info)
		if use != nil {
			use(info)
		}
	}
	return errors
}

// declared is where a name is declared; a field that embeds a type has the name of the type.
func declared(object types.Object) token.Pos {
	switch one := object.(type) {
	case *types.Var:
		if one.Embedded() {
			if named := typeName(one.Type()); named != nil {
				return named.Pos()
			}
		}
		return one.Origin().Pos()
	case *types.Func:
		return one.Origin().Pos()
	}
	return object.Pos()
}

func typeName(of types.Type) types.Object {
	if pointer, ok := of.(*types.Pointer); ok {
		of = pointer.Elem()
	}
	switch one := of.(type) {
	case *types.Named:
		return one.Obj()
	case *types.Alias:
		return one.Obj()
	}
	return nil
}

func (s *system) references(output io.Writer) {
	s.check(func(info *types.Info) {
		for _, names := range []map[*ast.Ident]types.Object{info.Defs, info.Uses} {
			for name, object := range names {
				if object == nil || object.Name() != name.Name {
					continue
				}
				if place := declared(object); place.IsValid() {
					fmt.Fprintf(output, "%s\t%s\n", s.files.Position(place), s.files.Position(name.Pos()))
				}
			}
		}
	})
}

func main() {
	var systems []*system
	for _, name := range os.Args[1:] {
		one, err := list(name)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		systems = append(systems, one)
	}
	output := bufio.NewWriter(os.Stdout)
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		for _, one := range systems {
			if input.Text() == "references" {
				one.references(output)
				continue
			}
			for _, text := range one.check(nil) {
				fmt.Fprintln(output, text)
			}
		}
		fmt.Fprint(output, "\x00\n")
		output.Flush()
	}
}
