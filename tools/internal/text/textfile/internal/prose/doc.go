// Package prose tells how well a text fits the way in which a language is written: how
// often its letters follow each other, or how often its characters occur. The figures
// are in models.bin, which the program .ci/models makes; they are read where they lie,
// and nothing is made before they are asked for.
package prose
