#ifndef AMP_OPS_KERNEL_VECTOR_MATH_H
#define AMP_OPS_KERNEL_VECTOR_MATH_H

#include <math.h>

/*
 * <tgmath.h> whose functions are vectorized in loops marked AMP_SIMD, where the C library has them
 * for vectors: libmvec of glibc 2.35 on x86-64, with errors below 4 units in the last place and the
 * special values of the scalar functions. glibc itself declares them under -ffast-math only. A call
 * under a condition stays scalar: compute first, choose afterwards.
 */
#if defined __x86_64__ && defined __GLIBC__ && defined _OPENMP
#    if __GLIBC_PREREQ(2, 35)
#        define AMP_VECTOR(name)                                         \
            _Pragma("omp declare simd notinbranch") double name(double); \
            _Pragma("omp declare simd notinbranch") float name##f(float);
AMP_VECTOR(acos)
AMP_VECTOR(acosh)
AMP_VECTOR(asin)
AMP_VECTOR(asinh)
AMP_VECTOR(atan)
AMP_VECTOR(atanh)
AMP_VECTOR(cos)
AMP_VECTOR(cosh)
AMP_VECTOR(erf)
AMP_VECTOR(erfc)
AMP_VECTOR(exp)
AMP_VECTOR(expm1)
AMP_VECTOR(log)
AMP_VECTOR(log1p)
AMP_VECTOR(sin)
AMP_VECTOR(sinh)
AMP_VECTOR(tan)
AMP_VECTOR(tanh)
#        undef AMP_VECTOR
_Pragma("omp declare simd notinbranch") double pow(double, double);
_Pragma("omp declare simd notinbranch") float powf(float, float);
#    endif
#endif

#include <tgmath.h>

#endif
