/*
 * Tables of the kinds of values. Takes and gives enumerators; knows neither tensors nor the graph.
 */
#include "core/kind.h"

const char *amp_form_name(enum amp_form form)
{
    static const char *const names[] = {[AMP_FORM_TENSOR] = "tensor",
                                        [AMP_FORM_SEQUENCE] = "sequence",
                                        [AMP_FORM_OPTIONAL] = "optional",
                                        [AMP_FORM_MAP] = "map"};
    return names[form];
}

const char *amp_kind_name(enum amp_kind kind)
{
    static const char *const names[] = {[AMP_KIND_UNKNOWN] = "of unknown type",
                                        [AMP_KIND_TENSOR] = "tensor",
                                        [AMP_KIND_SPARSE_TENSOR] = "sparse tensor",
                                        [AMP_KIND_SEQUENCE] = "sequence",
                                        [AMP_KIND_OPTIONAL] = "optional",
                                        [AMP_KIND_OPTIONAL_SEQUENCE] = "optional sequence",
                                        [AMP_KIND_MAP] = "map",
                                        [AMP_KIND_MAP_SEQUENCE] = "sequence of maps"};
    return names[kind];
}

enum amp_form amp_kind_form(enum amp_kind kind)
{
    static const enum amp_form forms[] = {[AMP_KIND_SEQUENCE] = AMP_FORM_SEQUENCE,
                                          [AMP_KIND_OPTIONAL] = AMP_FORM_OPTIONAL,
                                          [AMP_KIND_OPTIONAL_SEQUENCE] = AMP_FORM_OPTIONAL,
                                          [AMP_KIND_MAP] = AMP_FORM_MAP,
                                          [AMP_KIND_MAP_SEQUENCE] = AMP_FORM_SEQUENCE};
    return forms[kind];
}

enum amp_kind amp_kind_element(enum amp_kind kind)
{
    if (kind == AMP_KIND_OPTIONAL_SEQUENCE)
        return AMP_KIND_SEQUENCE;
    return kind == AMP_KIND_MAP_SEQUENCE ? AMP_KIND_MAP : AMP_KIND_TENSOR;
}
