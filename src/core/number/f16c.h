#ifndef AMP_CORE_NUMBER_F16C_H
#define AMP_CORE_NUMBER_F16C_H

#include <stddef.h>

/* Convert float16 to float32 and back by x86-64's F16C, anywhere in memory: round to nearest even,
   give the bits that dtype.h's conversions of single values give. Return how many elements, from
   the first on, were converted: not those at the end that fill no vector, none without F16C. */
size_t amp_f16c_to_f32(const void *halves, void *floats, size_t count);
size_t amp_f16c_from_f32(const void *floats, void *halves, size_t count);

#endif
