#ifndef AMP_CORE_STATUS_H
#define AMP_CORE_STATUS_H

/* The compiler warns where nobody looks at a status. */
#if defined(__has_c_attribute)
#    if __has_c_attribute(nodiscard)
#        define AMP_NODISCARD [[nodiscard]]
#    endif
#endif
#ifndef AMP_NODISCARD
#    define AMP_NODISCARD
#endif

/*
 * Every function that can fail returns an amp_status and describes the failure in a struct
 * amp_error. The first failure wins; only main.c prints it and turns it into an exit code.
 */
enum AMP_NODISCARD amp_status {
    AMP_OK,
    AMP_USAGE,       /* a wrong command line */
    AMP_IO,          /* the system said no: disk, memory, permissions */
    AMP_MODEL,       /* the model or the input data are wrong */
    AMP_RULES,       /* a rule file is wrong */
    AMP_UNSUPPORTED, /* an operator or a type that is not implemented */
    AMP_TYPE,        /* a dtype that the operator does not take */
    AMP_KERNEL,      /* a kernel failed: oneDNN said no, or shapes disagree at run time */
    AMP_MISMATCH,    /* it ran, but the result is outside the tolerance */
    AMP_AGAIN        /* no failure: the kernel is to be called again, with all constants
                        (ops/op.h, reads) */
};

/* The exit code of the two places that cannot report to main.c: the end of memory (core/arena.c)
   and of a mapped file (core/file/input.c). */
enum { AMP_EXIT_SYSTEM = 2 };

/* The exit code of the program when it ends with STATUS. */
int amp_status_exit_code(enum amp_status status);

/* "ok", "usage", "io", "model", ...: the name of STATUS in reports. */
const char *amp_status_name(enum amp_status status);

struct amp_error {
    enum amp_status status;
    char text[2048]; /* place, what was found, what is accepted; without the program's name. What
                        is longer is cut in the middle. */
};

/* Records STATUS and the formatted text in ERR unless it holds an earlier failure (or is NULL). */
void amp_error_record(struct amp_error *err, enum amp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline enum amp_status amp_status_of(enum amp_status status)
{
    return status;
}

/* Records a failure with amp_error_record; its value is STATUS. A macro, so that a static analysis
   of the caller sees which status that is. */
#define amp_fail(err, status, ...) \
    (amp_error_record((err), (status), __VA_ARGS__), amp_status_of(status))

/* Records the failure that FAILED holds in ERR, as amp_error_record does, and returns its status.
   For texts of several lines: amp_error_record would escape the line ends of an argument. */
enum amp_status amp_error_copy(struct amp_error *err, const struct amp_error *failed);

/* Puts the formatted text and ": " before the text of the failure that ERR holds. */
void amp_error_prefix(struct amp_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Passes the failure of EXPR up to the caller. */
#define AMP_TRY(expr)                             \
    do {                                          \
        enum amp_status amp_try_status_ = (expr); \
        if (amp_try_status_ != AMP_OK)            \
            return amp_try_status_;               \
    } while (0)

/* Evaluates EXPR, whose failure does not matter, or which ERR of the caller remembers. */
#define AMP_IGNORE(expr)                              \
    do {                                              \
        enum amp_status amp_ignored_status_ = (expr); \
        (void)amp_ignored_status_;                    \
    } while (0)

#endif
