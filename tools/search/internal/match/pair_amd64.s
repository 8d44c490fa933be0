#include "textflag.h"

// func pairAVX2(text *byte, from, n int, probes *probe, count int) int
//
// AX is the place of the block, R9 the last place where a block can start, R11 the
// places of the block that count. The last block overlaps the one before it.
TEXT ·pairAVX2(SB), NOSPLIT, $0-48
	MOVQ         text+0(FP), SI
	MOVQ         from+8(FP), AX
	MOVQ         n+16(FP), R9
	MOVQ         probes+24(FP), R10
	SUBQ         $64, R9
	MOVQ         $-1, R11
	MOVWLZX      0(R10), DX
	VPBROADCASTB 2(R10), Y0
	VPBROADCASTB 3(R10), Y1
	MOVWLZX      4(R10), DI
	VPBROADCASTB 6(R10), Y2
	VPBROADCASTB 7(R10), Y3
	ADDQ         SI, DX
	ADDQ         SI, DI
	CMPQ         AX, R9
	JGT          last

block:
	VPOR     0(DX)(AX*1), Y0, Y4
	VPOR     32(DX)(AX*1), Y0, Y5
	VPOR     0(DI)(AX*1), Y2, Y6
	VPOR     32(DI)(AX*1), Y2, Y7
	VPCMPEQB Y1, Y4, Y4
	VPCMPEQB Y1, Y5, Y5
	VPCMPEQB Y3, Y6, Y6
	VPCMPEQB Y3, Y7, Y7
	VPAND    Y4, Y6, Y4
	VPAND    Y5, Y7, Y5
	VPOR     Y4, Y5, Y6
	VPTEST   Y6, Y6
	JNZ      check

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
	VPMOVMSKB Y4, R8
	VPMOVMSKB Y5, BX
	SHLQ      $32, BX
	ORQ       BX, R8
	ANDQ      R11, R8
	JZ        next
	LEAQ      8(R10), R12
	MOVQ      count+32(FP), R13
	SUBQ      $2, R13
	JZ        found

probe:
	MOVWLZX      0(R12), BX
	VPBROADCASTB 2(R12), Y4
	VPBROADCASTB 3(R12), Y5
	ADDQ         SI, BX
	VPOR         0(BX)(AX*1), Y4, Y6
	VPOR         32(BX)(AX*1), Y4, Y7
	VPCMPEQB     Y5, Y6, Y6
	VPCMPEQB     Y5, Y7, Y7
	VPMOVMSKB    Y6, BX
	VPMOVMSKB    Y7, CX
	SHLQ         $32, CX
	ORQ          CX, BX
	ANDQ         BX, R8
	JZ           next
	ADDQ         $4, R12
	SUBQ         $1, R13
	JNZ          probe

found:
	BSFQ R8, R8
	ADDQ R8, AX
	VZEROUPPER
	MOVQ AX, ret+40(FP)
	RET

none:
	VZEROUPPER
	MOVQ $-1, ret+40(FP)
	RET
