#include "textflag.h"

DATA low4<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL low4<>(SB), RODATA|NOPTR, $8

// LOOKUP sets out to the buckets that allow the 32 bytes at place after AX. It
// leaves Y6 and Y7 broken.
#define LOOKUP(place, lo, hi, out) \
	VMOVDQU place(SI)(AX*1), Y6; \
	VPSRLW  $4, Y6, Y7; \
	VPAND   Y15, Y6, Y6; \
	VPAND   Y15, Y7, Y7; \
	VPSHUFB Y6, lo, Y6; \
	VPSHUFB Y7, hi, Y7; \
	VPAND   Y6, Y7, out

// func teddyAVX2(text *byte, from, n int, nibbles *[window][2][16]uint8) int
//
// AX is the place of the block, R9 the last place where a block can start, R11 the
// places of the block that count. The last block overlaps the one before it.
TEXT ·teddyAVX2(SB), NOSPLIT, $0-40
	MOVQ           text+0(FP), SI
	MOVQ           from+8(FP), AX
	MOVQ           n+16(FP), R9
	MOVQ           nibbles+24(FP), R10
	SUBQ           $64, R9
	MOVQ           $-1, R11
	VBROADCASTI128 0(R10), Y9
	VBROADCASTI128 16(R10), Y10
	VBROADCASTI128 32(R10), Y11
	VBROADCASTI128 48(R10), Y12
	VBROADCASTI128 64(R10), Y13
	VBROADCASTI128 80(R10), Y14
	VPBROADCASTQ   low4<>(SB), Y15
	VPXOR          Y8, Y8, Y8
	CMPQ           AX, R9
	JGT            last

block:
	LOOKUP(0, Y9, Y10, Y0)
	LOOKUP(1, Y11, Y12, Y1)
	LOOKUP(2, Y13, Y14, Y2)
	LOOKUP(32, Y9, Y10, Y3)
	LOOKUP(33, Y11, Y12, Y4)
	LOOKUP(34, Y13, Y14, Y5)
	VPAND  Y0, Y1, Y0
	VPAND  Y0, Y2, Y0
	VPAND  Y3, Y4, Y3
	VPAND  Y3, Y5, Y3
	VPOR   Y0, Y3, Y1
	VPTEST Y1, Y1
	JNZ    check

next:
	ADDQ $64, AX
	CMPQ AX, R9
	JLE  block

last:
	MOVQ AX, CX
	SUBQ R9, CX
	CMPQ CX, $64
	JGE  none
	SHLQ CX, R11
	MOVQ R9, AX
	JMP  block

check:
	VPCMPEQB  Y8, Y0, Y0
	VPCMPEQB  Y8, Y3, Y3
	VPMOVMSKB Y0, R8
	VPMOVMSKB Y3, BX
	SHLQ      $32, BX
	ORQ       BX, R8
	NOTQ      R8
	ANDQ      R11, R8
	JZ        next
	BSFQ      R8, R8
	ADDQ      R8, AX
	VZEROUPPER
	MOVQ      AX, ret+32(FP)
	RET

none:
	VZEROUPPER
	MOVQ $-1, ret+32(FP)
	RET
