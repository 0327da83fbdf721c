#ifndef AMP_CORE_CPU_H
#define AMP_CORE_CPU_H

#include "core/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What this CPU has: for oneDNN's kernels the instruction set that oneDNN uses, for our own what
 * they are compiled for. ONEDNN_MAX_CPU_ISA caps both.
 */
enum amp_cpu_feature {
    AMP_CPU_BF16,        /* oneDNN computes in bfloat16 */
    AMP_CPU_F16,         /* oneDNN computes in float16 */
    AMP_CPU_FAST_F16,    /* products in float16 are no slower than in float32 */
    AMP_CPU_VNNI,        /* VNNI: sums of products of bytes do not saturate at 16 bits */
    AMP_CPU_V3,          /* loops compiled for x86-64-v3 (AVX2, FMA, F16C, ...): core/simd.h */
    AMP_CPU_F16C,        /* conversion of float16: core/number/f16c.h */
    AMP_CPU_AVX512,      /* AVX-512: products of recurrent layers, ops/own/rnn_products.inc, and of
                            few rows, ops/matmul/row_product.c */
    AMP_CPU_AVX512_BF16, /* AVX-512 with bfloat16: rows of softmax, ops/own/softmax_512.c */
    AMP_CPU_AMX_BF16, /* AMX for bfloat16: products, ops/own/amx_matmul.h, and recurrent layers */
    AMP_CPU_FEATURES
};

/* A bit for each feature that the CPU has, and one beyond them; 0 until amp_cpu_detect has been
   called. For amp_cpu_has alone. */
extern uint32_t amp_cpu_detected;
uint32_t amp_cpu_detect(void);

/* Whether the CPU has FEATURE, and the cap allows it. Several threads may ask at once. */
static inline bool amp_cpu_has(enum amp_cpu_feature feature)
{
    uint32_t found = __atomic_load_n(&amp_cpu_detected, __ATOMIC_RELAXED);
    return ((found != 0 ? found : amp_cpu_detect()) >> feature & 1) != 0;
}

/* Whether oneDNN computes in DTYPE (float32, bfloat16, float16) itself here. */
bool amp_cpu_is_native(enum amp_dtype dtype);

/* The name of the instruction set that oneDNN uses here: "AVX2". */
const char *amp_cpu_isa(void);

/* Whether the processor tells the sizes of its caches, which some virtual machines hide. */
bool amp_cpu_tells_caches(void);

/* Instructions for bfloat16 and float16 that a processor may have. */
struct amp_cpu_flag {
    const char *name; /* as Linux has it: "avx512_bf16" */
    bool is_there; /* the processor has it and the system lets programs use it, whatever the cap */
};

/* The flag of number I, from 0 on. False past the last; other processors than x86-64 have none. */
bool amp_cpu_flag_at(size_t i, struct amp_cpu_flag *flag);

/* The instructions that FEATURE, of our own kernels, takes: "AVX-512"; NULL for one of oneDNN's. */
const char *amp_cpu_instructions(enum amp_cpu_feature feature);

#endif
