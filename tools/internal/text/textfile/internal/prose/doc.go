// Package prose measures how well a text fits a language: by how often its letters follow
// each other, or how often its characters occur. The figures are in models.bin, which the
// program .ci/models makes; they are read in place, and at the first use.
package prose
