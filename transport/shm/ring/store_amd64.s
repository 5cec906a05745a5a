//go:build !race

#include "textflag.h"

// func store(word *uint64, value uint64)
TEXT ·store(SB), NOSPLIT, $0-16
	MOVQ word+0(FP), AX
	MOVQ value+8(FP), BX
	MOVQ BX, (AX)
	RET
