// Says of a Dockerfile, as JSON, what BuildKit's own linter finds, what BuildKit's own parser reads, and which of the
// paths on stdin its dockerignore file lets into the build context: dockerfile-check DOCKERFILE DOCKERIGNORE < PATHS
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerui"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	digest "github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

type finding struct {
	Rule   string `json:"rule"`
	Line   int32  `json:"line"`
	Detail string `json:"detail"`
}

type instruction struct {
	Name  string   `json:"name"`
	Line  int      `json:"line"`
	Flags []string `json:"flags"`
	// The text after the name is one argument where it is a shell's command.
	Arguments []string `json:"arguments"`
	IsJSON    bool     `json:"isJson"`
}

type report struct {
	Findings     []finding     `json:"findings"`
	Instructions []instruction `json:"instructions"`
	Context      []string      `json:"context"`
}

// Stands in for the registry: an image of the platform that is asked for, and nothing more is known of it.
type anyImage struct{}

func (anyImage) ResolveImageConfig(_ context.Context, ref string, opt sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	image := ocispecs.Image{Platform: ocispecs.Platform{OS: "linux", Architecture: "amd64"}}
	if opt.ImageOpt != nil && opt.ImageOpt.Platform != nil {
		image.Platform = *opt.ImageOpt.Platform
	}
	config, err := json.Marshal(image)
	return ref, digest.FromBytes(config), config, err
}

func lint(text []byte, architecture string) ([]finding, error) {
	results, err := dockerfile2llb.DockerfileLint(context.Background(), text, dockerfile2llb.ConvertOpt{
		Config:         dockerui.Config{BuildPlatforms: []ocispecs.Platform{{OS: "linux", Architecture: "amd64"}}},
		TargetPlatform: &ocispecs.Platform{OS: "linux", Architecture: architecture},
		MetaResolver:   anyImage{},
		SourceMap:      &llb.SourceMap{Definition: &llb.Definition{}, Filename: "Dockerfile", Language: "Dockerfile", Data: text},
	})
	if err != nil {
		return nil, err
	}
	found := []finding{}
	for _, warning := range results.Warnings {
		var line int32
		if ranges := warning.Location.GetRanges(); len(ranges) > 0 {
			line = ranges[0].GetStart().GetLine()
		}
		found = append(found, finding{Rule: warning.RuleName, Line: line, Detail: warning.Detail})
	}
	if results.Error != nil {
		found = append(found, finding{Rule: "BuildError", Detail: results.Error.Message})
	}
	return found, nil
}

func parse(text []byte) ([]instruction, error) {
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	read := []instruction{}
	for _, node := range parsed.AST.Children {
		arguments := []string{}
		for next := node.Next; next != nil; next = next.Next {
			arguments = append(arguments, next.Value)
		}
		flags := append([]string{}, node.Flags...)
		read = append(read, instruction{strings.ToUpper(node.Value), node.StartLine, flags, arguments, node.Attributes["json"]})
	}
	return read, nil
}

// A file belongs to the context unless the patterns exclude it or a folder it is in, with later exceptions respected.
func selectContext(ignoreFile string) ([]string, error) {
	text, err := os.ReadFile(ignoreFile)
	if err != nil {
		return nil, err
	}
	patterns, err := ignorefile.ReadAll(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		return nil, err
	}
	selected := []string{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		excluded, err := matcher.MatchesOrParentMatches(lines.Text())
		if err != nil {
			return nil, err
		}
		if !excluded {
			selected = append(selected, lines.Text())
		}
	}
	return selected, lines.Err()
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: dockerfile-check DOCKERFILE DOCKERIGNORE < PATHS")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	said := report{Findings: []finding{}}
	for _, architecture := range []string{"amd64", "arm64"} {
		found, err := lint(text, architecture)
		if err != nil {
			return err
		}
		said.Findings = append(said.Findings, found...)
	}
	if said.Instructions, err = parse(text); err != nil {
		return err
	}
	if said.Context, err = selectContext(os.Args[2]); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(said)
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
