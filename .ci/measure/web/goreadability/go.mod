module toolcrib/goreadability

go 1.26.5

require (
	codeberg.org/readeck/go-readability/v2 v2.1.2
	golang.org/x/net v0.62.0
)

require (
	github.com/andybalholm/cascadia v1.3.3 // indirect
	github.com/go-shiori/dom v0.0.0-20230515143342-73569d674e1c // indirect
	github.com/gogs/chardet v0.0.0-20211120154057-b7413eaefb8f // indirect
	github.com/itlightning/dateparse v0.2.1 // indirect
	golang.org/x/text v0.43.0 // indirect
)
