#ifndef AMP_CORE_KIND_H
#define AMP_CORE_KIND_H

/* What a value is: the kinds of ONNX's TypeProto, and what a value of each is in memory. */

/* What is in memory: a tensor, or what a list of tensors stands for (core/tensor.h). */
enum amp_form { AMP_FORM_TENSOR, AMP_FORM_SEQUENCE, AMP_FORM_OPTIONAL, AMP_FORM_MAP };

/* What the model declares a value to be. */
enum amp_kind {
    AMP_KIND_UNKNOWN,
    AMP_KIND_TENSOR,
    AMP_KIND_SPARSE_TENSOR,
    AMP_KIND_SEQUENCE, /* of tensors with the value's dtype and shape */
    AMP_KIND_OPTIONAL, /* of a tensor */
    AMP_KIND_OPTIONAL_SEQUENCE,
    AMP_KIND_MAP,
    AMP_KIND_MAP_SEQUENCE
};

/* The name of FORM for messages: "sequence". */
const char *amp_form_name(enum amp_form form);

/* The name of KIND for messages: "sequence of maps", "of unknown type". */
const char *amp_kind_name(enum amp_kind kind);

/* What a value of KIND is in memory; of an optional: AMP_FORM_OPTIONAL, whether it is empty or not.
 */
enum amp_form amp_kind_form(enum amp_kind kind);

/* The kind of the elements of a sequence, optional or map of KIND; the elements of a map are
   tensors. */
enum amp_kind amp_kind_element(enum amp_kind kind);

#endif
