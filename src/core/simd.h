#ifndef AMP_CORE_SIMD_H
#define AMP_CORE_SIMD_H

/* Before a loop without dependencies: gcc -O2 vectorizes only loops that say so. */
#define AMP_SIMD _Pragma("omp simd")

/* Before a function with such loops: compiled for AVX2 too, which of the two is chosen when the
   program starts. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#    define AMP_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#    define AMP_CLONES
#endif

/* The number of element operations below which a team of threads costs more than it saves. */
enum { AMP_PARALLEL_MIN = 1 << 15 };

#endif
