package rank

import (
	"hash/fnv"
	"math"
)

// Dimensions is how many numbers a hashed vector has.
const Dimensions = 1024

// Hashed returns the vector of a text: its words, each with its weight, as the runs of three
// and four characters that they have, hashed. Words that are spelt alike have vectors that
// are alike; no meaning is in it.
func Hashed(words map[string]float64) []int8 {
	var sums [Dimensions]float64
	for word, weight := range words {
		letters := []rune("^" + word + "$")
		var grams []string
		for n := 3; n <= 4; n++ {
			for i := 0; i+n <= len(letters); i++ {
				grams = append(grams, string(letters[i:i+n]))
			}
		}
		weight /= math.Sqrt(float64(max(len(grams), 1)))
		for _, gram := range grams {
			h := fnv.New32a()
			_, _ = h.Write([]byte(gram)) // it never fails
			sum := h.Sum32()
			if sum&(1<<31) != 0 {
				sums[sum%Dimensions] -= weight
			} else {
				sums[sum%Dimensions] += weight
			}
		}
	}
	vector := make([]float32, Dimensions)
	for i, v := range sums {
		vector[i] = float32(v)
	}
	return Pack(vector)
}

// Cosine returns how alike two vectors are, at most 1; 0 if one has another length or is
// empty.
func Cosine(a, b []int8) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb int64
	for i := range a {
		x, y := int64(a[i]), int64(b[i])
		dot += x * y
		aa += x * x
		bb += y * y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(aa)*float64(bb))
}

// Pack returns a vector in small numbers. Its direction stays.
func Pack(vector []float32) []int8 {
	most := float32(0)
	for _, v := range vector {
		most = max(most, v, -v)
	}
	packed := make([]int8, len(vector))
	if most == 0 {
		return packed
	}
	for i, v := range vector {
		packed[i] = int8(math.Round(float64(v/most) * math.MaxInt8))
	}
	return packed
}
