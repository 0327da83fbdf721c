/*
 * What this CPU has. oneDNN is asked, as it knows the processors, the operating system's part in
 * AMX, and the cap; a kernel of our own needs one of oneDNN's instruction sets, and where that set
 * has less than the kernel takes, the processor is asked. Other processors than x86-64 have no such
 * kernels.
 */
#include "core/cpu.h"

#include "core/array.h"

#include <oneapi/dnnl/dnnl.h>
#include <stddef.h>

uint32_t amp_cpu_detected;

/* oneDNN's instruction sets; each is a set of bits, and holds those that it extends. On arm64 it
   gives numbers that its header does not name. */
static const struct {
    dnnl_cpu_isa_t isa;
    const char *name;
} isas[] = {
#if defined __aarch64__
    {0x27, "SVE with 512 bits"},
    {0x7, "SVE with 256 bits"},
    {0x3, "SVE with 128 bits"},
    {0x1, "Advanced SIMD"},
#else
    {dnnl_cpu_isa_avx10_1_512_amx_fp16, "AVX10.1/512 with AMX bf16, int8 and fp16"},
    {dnnl_cpu_isa_avx10_1_512_amx, "AVX10.1/512 with AMX bf16 and int8"},
    {dnnl_cpu_isa_avx10_1_512, "AVX10.1/512"},
    {dnnl_cpu_isa_avx512_core_bf16, "AVX-512 with bf16"},
    {dnnl_cpu_isa_avx512_core_vnni, "AVX-512 with VNNI"},
    {dnnl_cpu_isa_avx512_core, "AVX-512"},
    {dnnl_cpu_isa_avx2_vnni_2, "AVX2 with VNNI, bf16 and fp16 conversion"},
    {dnnl_cpu_isa_avx2_vnni, "AVX2 with VNNI"},
    {dnnl_cpu_isa_avx2, "AVX2"},
    {dnnl_cpu_isa_avx, "AVX"},
    {dnnl_cpu_isa_sse41, "SSE4.1"},
#endif
    {dnnl_cpu_isa_default, "generic code"},
};

const char *amp_cpu_isa(void)
{
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    size_t i = 0;
    while (i < AMP_COUNT(isas) - 1 && isas[i].isa != isa)
        i++;
    return isas[i].name;
}

#if defined __x86_64__
#    include <cpuid.h>

/* Whether the processor has what x86-64-v3 has beyond AVX2: FMA, MOVBE, F16C, BMI 1 and 2, LZCNT.
 */
static bool has_v3(void)
{
    const uint32_t basic = bit_FMA | bit_MOVBE | bit_F16C, extended = bit_BMI | bit_BMI2;
    uint32_t a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & basic) == basic &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & extended) == extended &&
           __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0;
}

static bool has_f16c(void)
{
    uint32_t a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

/* A feature is there where oneDNN's set holds ENOUGH, or ALSO where that is not 0, and has_beyond
   does not deny it. OWN are the instructions of our own kernels. */
static const struct {
    dnnl_cpu_isa_t enough, also;
    const char *own;
    bool (*has_beyond)(void);
} features[AMP_CPU_FEATURES] = {
    [AMP_CPU_BF16] = {dnnl_cpu_isa_avx512_core_bf16, dnnl_cpu_isa_avx2_vnni_2, NULL, NULL},
    [AMP_CPU_F16] = {dnnl_cpu_isa_avx10_1_512, dnnl_cpu_isa_avx2_vnni_2, NULL, NULL},
    [AMP_CPU_FAST_F16] = {dnnl_cpu_isa_avx10_1_512_amx_fp16, 0, NULL, NULL},
    [AMP_CPU_VNNI] = {dnnl_cpu_isa_avx512_core_vnni, dnnl_cpu_isa_avx2_vnni, NULL, NULL},
    [AMP_CPU_V3] = {dnnl_cpu_isa_avx2, 0, "x86-64-v3", has_v3},
    [AMP_CPU_F16C] = {dnnl_cpu_isa_avx, 0, "F16C", has_f16c},
    [AMP_CPU_AVX512] = {dnnl_cpu_isa_avx512_core, 0, "AVX-512", NULL},
    [AMP_CPU_AVX512_BF16] = {dnnl_cpu_isa_avx512_core_bf16, 0, "AVX-512-BF16", NULL},
    [AMP_CPU_AMX_BF16] = {dnnl_cpu_isa_avx10_1_512_amx, 0, "AMX-BF16", NULL},
};

static bool holds(dnnl_cpu_isa_t isa, dnnl_cpu_isa_t part)
{
    return part != 0 && (isa & part) == part;
}

static bool find(enum amp_cpu_feature i, dnnl_cpu_isa_t isa)
{
    return (holds(isa, features[i].enough) || holds(isa, features[i].also)) &&
           (features[i].has_beyond == NULL || features[i].has_beyond());
}

const char *amp_cpu_instructions(enum amp_cpu_feature feature)
{
    return features[feature].own;
}

/* What the system saves of the registers when it switches programs (XCR0), without which there is
   no using them; 0 where it does not say. */
static uint32_t saved_registers(void)
{
    uint32_t a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0)
        return 0;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return a;
}

static bool has_cache(void)
{
    enum { KIND = 0x1f }; /* bits of EAX: what the first cache is for, 0: there is none */
    static const uint32_t leaves[] = {0x4, 0x8000001d}; /* Intel's, AMD's */
    uint32_t a, b, c, d;
    for (size_t i = 0; i < AMP_COUNT(leaves); i++)
        if (__get_cpuid_count(leaves[i], 0, &a, &b, &c, &d) != 0 && (a & KIND) != 0)
            return true;
    return false;
}

/* In a virtual machine each question is a trap. */
bool amp_cpu_tells_caches(void)
{
    enum { UNKNOWN, NO, YES };
    static int known;
    int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (answer == UNKNOWN) {
        answer = has_cache() ? YES : NO;
        __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    }
    return answer == YES;
}

bool amp_cpu_flag_at(size_t i, struct amp_cpu_flag *flag)
{
    enum { VECTORS = 0xe6, TILES = 0x60000 }; /* bits of XCR0: for AVX-512, for AMX */
    enum { EAX, EDX };
    static const struct {
        const char *name;
        uint32_t leaf, state; /* of CPUID's leaf 7; what has to be saved */
        int word, bit;
    } flags[] = {{"avx512_bf16", 1, VECTORS, EAX, 5},
                 {"avx512_fp16", 0, VECTORS, EDX, 23},
                 {"amx_bf16", 0, TILES, EDX, 22},
                 {"amx_fp16", 1, TILES, EAX, 21}};
    uint32_t words[2] = {0}, b, c;
    if (i >= AMP_COUNT(flags))
        return false;
    bool is_known = __get_cpuid_count(7, flags[i].leaf, &words[EAX], &b, &c, &words[EDX]) != 0;
    *flag = (struct amp_cpu_flag){.name = flags[i].name,
                                  .is_there =
                                      is_known && (words[flags[i].word] >> flags[i].bit & 1) != 0 &&
                                      (saved_registers() & flags[i].state) == flags[i].state};
    return true;
}
#else
static bool find(enum amp_cpu_feature i, dnnl_cpu_isa_t isa)
{
    (void)i, (void)isa;
    return false;
}

const char *amp_cpu_instructions(enum amp_cpu_feature feature)
{
    (void)feature;
    return NULL;
}

bool amp_cpu_tells_caches(void)
{
    return true;
}

bool amp_cpu_flag_at(size_t i, struct amp_cpu_flag *flag)
{
    (void)i, (void)flag;
    return false;
}
#endif

uint32_t amp_cpu_detect(void)
{
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    uint32_t found = UINT32_C(1) << AMP_CPU_FEATURES;
    for (enum amp_cpu_feature i = 0; i < AMP_CPU_FEATURES; i++)
        if (find(i, isa))
            found |= UINT32_C(1) << i;
    __atomic_store_n(&amp_cpu_detected, found, __ATOMIC_RELAXED);
    return found;
}

bool amp_cpu_is_native(enum amp_dtype dtype)
{
    return dtype == AMP_FLOAT || (dtype == AMP_BFLOAT16 && amp_cpu_has(AMP_CPU_BF16)) ||
           (dtype == AMP_FLOAT16 && amp_cpu_has(AMP_CPU_F16));
}
