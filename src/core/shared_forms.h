#ifndef AMP_CORE_SHARED_FORMS_H
#define AMP_CORE_SHARED_FORMS_H

#include "core/buffer.h"

/*
 * Forms of data that stay as they are, such as weights of a model in another dtype or in the layout
 * of a kernel: made once where several need the same. They are known by the address of what they
 * are made of and by what says how. Forms of forms are forms as well. What is kept takes
 * a part of the memory that there is at most. Several threads may find and add at once.
 */

/* Begins to keep forms of what lies in the SIZE bytes at DATA, which stay there and unchanged up to
   amp_shared_forms_end; before that begins nothing again. */
void amp_shared_forms_begin(const void *data, size_t size);

/* Lets all forms go. */
void amp_shared_forms_end(void);

enum amp_form_use {
    AMP_FORM_PLACED,   /* as a session holds a constant: aligned, in the dtype of the conversion */
    AMP_FORM_LAID_OUT, /* as a primitive wants a constant */
    AMP_FORM_LARGEST   /* the largest magnitude, a double */
};

/* How a form is made, which SIZE bytes of its user say. */
struct amp_form_kind {
    enum amp_form_use use;
    const void *bytes;
    size_t size;
};

/* Whether forms of the data at OF are kept, so that it is worth while to look for one. */
bool amp_shared_forms_are_kept(const void *of);

/* The form of KIND of the data at OF, with a reference for the caller; NULL: there is none. */
struct amp_buffer *amp_shared_form_find(const void *of, struct amp_form_kind kind);

/* Keeps FORM, whose contents stay, as the form of KIND of the data at OF, if forms of that are kept
   and there is room. */
void amp_shared_form_add(const void *of, struct amp_form_kind kind, struct amp_buffer *form);

#endif
