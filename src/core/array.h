#ifndef AMP_CORE_ARRAY_H
#define AMP_CORE_ARRAY_H

/* The number of elements of ARRAY, which must be an array and no pointer. */
#define AMP_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
