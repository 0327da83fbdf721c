#ifndef AMP_RUN_REWRITE_GRADIENT_MACROS_H
#define AMP_RUN_REWRITE_GRADIENT_MACROS_H

/* Private to run/rewrite: terms that several rules share. */
struct amp_gradient_macro {
    const char *name;
    const char *term; /* of p and q, its arguments, if any, and what its user defines */
};

/* NULL when there is none of that name. */
const char *amp_gradient_macro(const char *name);

#endif
