#include "go_asm.h"
#include "textflag.h"

// NOTE goes on by the byte at place after SI: CX is the window, DI where the next fresh
// gram belongs, R8 how many there are.
#define NOTE(place) \
	MOVBLZX place(SI), R10; \
	SHLL    $const_symbolBits, CX; \
	ORL     (BX)(R10*4), CX; \
	MOVL    CX, R10; \
	MOVL    CX, R11; \
	SHRL    $const_gramShift, R10; \
	SHRL    $(const_gramShift+6), R11; \
	MOVL    R10, (DI)(R8*4); \
	MOVQ    (AX)(R11*8), R12; \
	BTSQ    R10, R12; \
	MOVQ    R12, (AX)(R11*8); \
	SBBQ    $-1, R8

// func mark(seen *[gramCount / 64]uint64, of *alphabet, window uint32, text []byte, fresh *[freshSize]uint32) (end, n uint32, high bool)
TEXT ·mark(SB), NOSPLIT, $0-65
	MOVQ seen+0(FP), AX
	MOVQ of+8(FP), BX
	MOVL window+16(FP), CX
	MOVQ text_base+24(FP), SI
	MOVQ text_len+32(FP), DX
	MOVQ fresh+48(FP), DI
	XORL R8, R8
	XORL R9, R9 // all bytes, by or
	SUBQ $4, DX
	JLT  rest

four:
	ORL  (SI), R9
	NOTE(0)
	NOTE(1)
	NOTE(2)
	NOTE(3)
	ADDQ $4, SI
	SUBQ $4, DX
	JGE  four

rest:
	ADDQ $4, DX
	JEQ  done

one:
	MOVBLZX (SI), R10
	ORL     R10, R9
	NOTE(0)
	INCQ SI
	DECQ DX
	JNE  one

done:
	MOVL CX, end+56(FP)
	MOVL R8, n+60(FP)
	TESTL $0x80808080, R9
	SETNE high+64(FP)
	RET
