#ifndef AMP_CORE_SIMD_H
#define AMP_CORE_SIMD_H

/* Loops that the compiler vectorizes; on x86-64 for two levels of it. */

#include "core/cpu.h"

/* Stands before a loop without dependencies: gcc -O2 vectorizes only loops that say so. */
#define AMP_SIMD _Pragma("omp simd")

/* Defines the function NAME with such loops, whose body follows: RESULT NAME PARAMETERS, the names
   of which are ARGUMENTS. On x86-64 it is compiled a second time for x86-64-v3, and runs so on CPUs
   that have AMP_CPU_V3. Not by gcc's target_clones: what these take no cap can change. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#    define AMP_HAS_V3 1
#    define AMP_V3_TARGET __attribute__((target("avx2,bmi,bmi2,f16c,fma,lzcnt,movbe")))
#    define AMP_CLONES(result, name, parameters, arguments)                                \
        static inline __attribute__((always_inline)) result name##_body parameters;        \
        AMP_V3_TARGET static result name##_v3 parameters                                   \
        {                                                                                  \
            return name##_body arguments;                                                  \
        }                                                                                  \
        static result name##_plain parameters                                              \
        {                                                                                  \
            return name##_body arguments;                                                  \
        }                                                                                  \
        static result name parameters                                                      \
        {                                                                                  \
            return amp_cpu_has(AMP_CPU_V3) ? name##_v3 arguments : name##_plain arguments; \
        }                                                                                  \
        static inline result name##_body parameters
#else
#    define AMP_HAS_V3 0
#    define AMP_CLONES(result, name, parameters, arguments) static result name parameters
#endif

/* The number of element operations below which a team of threads costs more than it saves. */
enum { AMP_PARALLEL_MIN = 1 << 15 };

#endif
