package conformance

import (
	"context"

	"toolcrib/tools"
)

// contentTools return content, one kind each.
func contentTools() []tools.Tool {
	return []tools.Tool{
		fixed("test_simple_text", "Simple text", "Returns one text.",
			tools.Text("This is a simple text response for testing.")),
		fixed("test_image_content", "Image", "Returns an image.", image()),
		fixed("test_audio_content", "Audio", "Returns a sound.",
			tools.Block{Kind: tools.AudioBlock, MIME: "audio/wav", Data: file("silence.wav")}),
		fixed("test_embedded_resource", "Embedded resource", "Returns a resource with its content.",
			tools.Block{Kind: tools.ResourceBlock, URI: "test://embedded-resource", MIME: "text/plain", Text: "This is an embedded resource content."}),
		fixed("test_multiple_content_types", "Several kinds of content", "Returns a text, an image and a resource.",
			tools.Text("Multiple content types test:"), image(),
			tools.Block{Kind: tools.ResourceBlock, URI: "test://mixed-content-resource", MIME: "application/json", Text: `{"test":"data","value":123}`}),
		fixed("test_reconnection", "Reconnection", "Returns one text to a client that watches the stream.",
			tools.Text("Reconnection test completed.")),
		tools.New(tools.Def[none, line]{
			Name: "test_error_handling", Title: "Error", Doc: "Always ends in an error.",
			Access: tools.Read, Effects: tools.None, Repeatable: true,
			Run: func(context.Context, none) (line, error) {
				return "", tools.Errorf(tools.Unsupported, "this tool intentionally returns an error for testing")
			},
		}),
		tools.New(tools.Def[none, line]{
			Name: "test_missing_capability", Title: "Missing ability", Doc: "Can only be called by a client that offers its model.",
			Access: tools.Read, Effects: tools.None, Repeatable: true,
			Needs: []tools.Need{{Client: tools.Sampling, How: "call it from a client that declares sampling"}},
			Run:   func(context.Context, none) (line, error) { return "The client offers its model.", nil },
		}),
	}
}

// fixed declares a tool whose result is always the same.
func fixed(name, title, doc string, content ...tools.Block) tools.Tool {
	return tools.New(tools.Def[none, blocks]{
		Name: name, Title: title, Doc: doc,
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Run: func(context.Context, none) (blocks, error) { return content, nil },
	})
}
