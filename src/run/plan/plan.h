#ifndef AMP_RUN_PLAN_PLAN_H
#define AMP_RUN_PLAN_PLAN_H

#include "ops/dnnl/post_op.h"
#include "run/exec/slices.h"

/* Private to run/: which nodes of a model run, in which order, and what can go after each. */

/* What a node is called with; the arrays have an entry per input or output. */
struct amp_frame {
    const struct amp_tensor **in;
    struct amp_tensor *temporary; /* widened inputs */
    bool *is_constant;
    bool *has_form;  /* the kernel has a form of its own of the constant: amp_op.reads */
    bool *is_served; /* nor does anything else of the step read the constant's slot */
    struct amp_tensor *outs, **out; /* out[i] is outs + i */
};

struct amp_step {
    uint32_t node;
    const struct amp_op *op;
    struct amp_frame frame;
    void *state;             /* of op: amp_ctx.state */
    bool is_widened;         /* the kernel said that it has no lower dtype here */
    bool was_widened;        /* and this run, or an earlier one, computed in float32 */
    struct amp_tensor *wide; /* per input: constants in float32; NULL before the first such run */
    bool prefers_f32;        /* float16 is computed in float32, which is faster */
    bool keeps_wide;         /* and stored so: all that use it prefer that */
    struct amp_layout_wish layout_wish; /* of what it gives, all its post-ops done */
    struct amp_ids drops;               /* values that nobody needs after this step */
    bool is_constant;                   /* all that it reads is constant: it runs once ... */
    bool is_done;                       /* ... and has run */
    /* Nodes that are done as post-ops of this one where oneDNN can, as steps to run after it where
       it cannot. */
    struct amp_step *tail;
    struct amp_post *posts; /* one for each */
    size_t n_tail;
    bool is_split; /* it cannot */
    /* Casts whose results this step reads as what was cast, where its kernel can; shared with
       others that read the same. */
    struct amp_step **casts;
    size_t n_casts, casts_capacity;
    bool runs_casts; /* it cannot */
    /* Steps that run right before this one, each for the next alone, and how all of them and this
       one go slice by slice, if they can. */
    struct amp_step *lead;
    size_t n_lead;
    struct amp_slices *slices; /* NULL: there is no lead, nor is this a part of one */
    struct amp_sliced sliced;  /* what it is there */
    bool can_split_slices;     /* its tail can go slice by slice too, or need not */
    bool is_split_in_slices;   /* as is_split, where it goes slice by slice */
};

/* The steps of one graph. */
struct amp_plan {
    struct amp_step *steps;
    size_t n_steps;
};

/* The most post-ops of a step: no more than oneDNN takes. */
enum { AMP_POSTS_MAX = 8 };

/* Makes *PLANS, one per graph of MODEL, in ARENA; where FUSES, with nodes absorbed. Nodes whose
   output is constant get no step. AMP_UNSUPPORTED with operator and node when there is no kernel
   for one; the plans then hold what was made so far. */
enum amp_status amp_plans_create(const struct amp_model *model, struct amp_arena *arena, bool fuses,
                                 struct amp_plan **plans, struct amp_error *err);

/* Whether float32 convolutions of MODEL are faster in blocks of channels
 * (amp_host.blocks_channels).
 */
bool amp_plan_blocks_channels(const struct amp_model *model);

/* Output 0 of STEP, all its post-ops done. */
uint32_t amp_step_output(const struct amp_model *model, const struct amp_step *step);

/* The first node of MODEL that there is no kernel for; AMP_NONE: there is one for each. */
uint32_t amp_plan_lacking(const struct amp_model *model);

/* The value that is the operand of post-op I of STEP; AMP_NONE: it has none. */
uint32_t amp_step_operand(const struct amp_model *model, const struct amp_step *step, size_t i);

#endif
