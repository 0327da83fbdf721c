#ifndef AMP_CORE_TENSOR_H
#define AMP_CORE_TENSOR_H

#include "core/dtype.h"
#include "core/kind.h"
#include "core/status.h"

struct amp_buffer; /* core/buffer.h */
struct amp_layout; /* ops/dnnl/layout.h */
struct amp_losses; /* core/convert.h */

/* The most dimensions a tensor may have here: as many as oneDNN takes. */
enum { AMP_RANK_MAX = 12 };

/* A dimension that is not known before running. Values below it are symbols (core/graph/graph.h):
   names such as "batch", equal where the model gives them the same name. */
enum { AMP_DIM_UNKNOWN = -1 };

struct amp_shape {
    int rank; /* -1: unknown; 0: a scalar */
    int64_t dims[AMP_RANK_MAX];
};

/* A tensor's elements in row-major order, little endian, types below a byte packed low nibble first
   (onnx.proto, TensorProto.raw_data); strings are struct amp_str. Or a list of tensors: see
   amp_list_alloc. */
struct amp_tensor {
    enum amp_dtype dtype;
    enum amp_form form;
    struct amp_shape shape;
    /* How the elements lie, when not row-major: as oneDNN chose (ops/dnnl/layout.h). Only between
       the steps of a run. */
    const struct amp_layout *layout;
    void *data;                /* NULL: not known. May be unaligned when it lies in a model file. */
    struct amp_buffer *buffer; /* owns DATA together with other tensors; NULL: DATA is borrowed */
    /* DATA NULL: it is converted from this tensor's when it is needed (amp_tensor_copy), so that
       the converted weights of a model need not be in memory together. NULL: there is no such
       tensor. */
    const struct amp_tensor *source;
    /* What that conversion loses, counted whenever it begins with the first element. NULL: it loses
       nothing. */
    struct amp_losses *losses;
};

/* The number of elements; -1 when a dimension is not known or the number overflows, which no tensor
   that exists does. */
int64_t amp_shape_count(const struct amp_shape *shape);

/* The product of dims FROM to TO - 1; 1 when there are none, -1 when one is not known or the
   product overflows. */
int64_t amp_shape_product(const struct amp_shape *shape, int from, int to);

/* Whether the rank and all dims are known. */
bool amp_shape_is_known(const struct amp_shape *shape);
/* Whether A and B have the same rank and dims; unknown dims are equal to each other. */
bool amp_shape_equal(const struct amp_shape *a, const struct amp_shape *b);

/* Writes SHAPE as text, at most SIZE bytes of it, to TEXT: "[2, 3, ?]"; "[?...]" for an unknown
   rank. Returns TEXT. */
char *amp_shape_text(const struct amp_shape *shape, char *text, size_t size);

/* The coordinates of element INDEX of a tensor of SHAPE, which has it, row-major: one for each dim.
 */
struct amp_shape amp_shape_place(const struct amp_shape *shape, uint64_t index);

/* AMP_MODEL unless RANK is at most AMP_RANK_MAX, every dim is >= 0 and elements of DTYPE in that
   shape take a number of bytes that fits: which goes to *SIZE. */
enum amp_status amp_shape_size(const struct amp_shape *shape, enum amp_dtype dtype, size_t *size,
                               struct amp_error *err);

/* The number of elements of TENSOR, whose shape must be known. */
static inline size_t amp_tensor_count(const struct amp_tensor *tensor)
{
    return (size_t)amp_shape_count(&tensor->shape);
}

/* The bytes of the data of TENSOR, whose shape must be known and checked (amp_shape_size). */
size_t amp_tensor_size(const struct amp_tensor *tensor);

/* Converts elements FIRST to FIRST + COUNT - 1 of TENSOR, whose data are NULL and whose source's
   are not, to TO: rounded to nearest, finite values to finite ones where it counts its losses. */
void amp_tensor_convert(const struct amp_tensor *tensor, size_t first, size_t count, void *to);

/* Copies all data of TENSOR, or converts its source's, to TO, which has room for amp_tensor_size
   bytes. */
void amp_tensor_copy(const struct amp_tensor *tensor, void *to);

/* Element INDEX of an integer or bool tensor as int64_t (uint64 wraps). */
int64_t amp_tensor_int(const struct amp_tensor *tensor, size_t index);

/* Element INDEX of a numeric tensor (float types, integers, bool) as double. */
double amp_tensor_double(const struct amp_tensor *tensor, size_t index);

/* Stores VALUE, rounded once, as element INDEX of a float64, float32, float16 or bfloat16 tensor.
 */
void amp_tensor_set_double(const struct amp_tensor *tensor, size_t index, double value);

/* Gives TENSOR (dtype and shape set, all dims known) memory of its own, replacing what it held. */
enum amp_status amp_tensor_alloc(struct amp_tensor *tensor, struct amp_error *err);

/* Makes *TO refer to the data of *FROM, which must own a buffer or outlive TO; dtype and shape
   stay. */
void amp_tensor_share(struct amp_tensor *to, const struct amp_tensor *from);

/* Drops the data of TENSOR; NULL data is fine. Dtype and shape stay. */
void amp_tensor_release(struct amp_tensor *tensor);
/* Drops the data of TENSOR, and frees memory that nobody else refers to: no later run needs as
   much. */
void amp_tensor_discard(struct amp_tensor *tensor);
/* Drops the data of the COUNT tensors at TENSORS. */
void amp_tensors_release(struct amp_tensor *tensors, size_t count);

/* Gives string TENSOR, whose shape is set, memory for its elements, which are not set, and SIZE
   bytes behind them, at *TEXT, replacing what it held. */
enum amp_status amp_strings_alloc(struct amp_tensor *tensor, size_t size, char **text,
                                  struct amp_error *err);

/* Gives string TENSOR, whose elements point into memory of others, memory of its own that holds the
   bytes too. */
enum amp_status amp_strings_own(struct amp_tensor *tensor, struct amp_error *err);

/*
 * What is no tensor is a list of them: a sequence its elements, an optional none or one, a map its
 * keys and its values. DATA are then struct amp_tensor, the shape is their number, and dtype is
 * that of the elements, which a list without any has too (of a map: the values').
 *
 * Gives LIST memory of its own for COUNT tensors as FORM, all without data yet, replacing what it
 * held.
 */
enum amp_status amp_list_alloc(struct amp_tensor *list, enum amp_form form, size_t count,
                               struct amp_error *err);

/* Whether TENSOR is a list of tensors. */
static inline bool amp_tensor_is_list(const struct amp_tensor *tensor)
{
    return tensor->form != AMP_FORM_TENSOR;
}

/* The tensors of LIST. */
static inline struct amp_tensor *amp_list_items(const struct amp_tensor *list)
{
    return list->data;
}

/* Makes *TO what *FROM is: dtype, shape and data, which *FROM must own or which outlive TO. */
void amp_tensor_refer(struct amp_tensor *to, const struct amp_tensor *from);

#endif
