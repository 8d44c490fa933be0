package conformance

import (
	"context"
	"fmt"

	"toolcrib/tools"
)

// prompts are the prompts that the contract can say.
func prompts() []tools.Prompt {
	return []tools.Prompt{
		{
			Name: "test_simple_prompt", Title: "Simple prompt", Description: "One text.",
			Render: func(context.Context, map[string]string) ([]tools.Block, error) {
				return []tools.Block{tools.Text("This is a simple prompt for testing.")}, nil
			},
		},
		{
			Name: "test_prompt_with_arguments", Title: "Prompt with arguments", Description: "A text that tells its arguments.",
			Args: []tools.PromptArg{
				{Name: "arg1", Title: "First", Description: "First test argument", Required: true, Complete: completions},
				{Name: "arg2", Title: "Second", Description: "Second test argument", Required: true},
			},
			Render: func(_ context.Context, args map[string]string) ([]tools.Block, error) {
				return []tools.Block{tools.Text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"]))}, nil
			},
		},
		{
			Name: "test_prompt_with_embedded_resource", Title: "Prompt with a resource", Description: "A resource and what to do with it.",
			Args: []tools.PromptArg{{Name: "resourceUri", Title: "Resource", Description: "URI of the resource to embed", Required: true}},
			Render: func(_ context.Context, args map[string]string) ([]tools.Block, error) {
				return []tools.Block{
					{Kind: tools.ResourceBlock, URI: args["resourceUri"], MIME: "text/plain", Text: "Embedded resource content for testing."},
					tools.Text("Please process the embedded resource above."),
				}, nil
			},
		},
		{
			Name: "test_prompt_with_image", Title: "Prompt with an image", Description: "An image and what to do with it.",
			Render: func(context.Context, map[string]string) ([]tools.Block, error) {
				return []tools.Block{image(), tools.Text("Please analyze the image above.")}, nil
			},
		},
	}
}

func completions(_ context.Context, prefix string) ([]string, error) {
	return beginning([]string{"test", "testValue1", "testValue2"}, prefix), nil
}
