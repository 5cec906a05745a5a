//go:build !race

#include "textflag.h"

// func store(word *uint64, value uint64)
TEXT ·store(SB), NOSPLIT, $0-16
	MOVQ word+0(FP), AX
	MOVQ value+8(FP), BX
	MOVQ BX, (AX)
	RET

// func fetch(word *uint64)
TEXT ·fetch(SB), NOSPLIT, $0-8
	MOVQ word+0(FP), AX
	PREFETCHT0 (AX)
	RET
