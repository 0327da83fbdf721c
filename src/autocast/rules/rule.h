#ifndef AMP_AUTOCAST_RULES_RULE_H
#define AMP_AUTOCAST_RULES_RULE_H

#include "autocast/rules/precision.h"
#include "core/dtype.h"
#include "core/strmap.h"

/*
 * What rules are made of. Rule sets read from YAML files (ampconv-rules(5)) and overrides make one
 * ordered list, of which the last rule that matches a node decides.
 */

struct amp_automaton; /* core/match/automaton.h */
struct amp_rule_work; /* autocast/rules/name_pattern.h */
struct amp_torch_map; /* autocast/rules/torch_map.h */

/* Where a rule was written: FILE is the path as given, "NAME.yaml" for a set found by its name, and
   AMP_RULES_COMMAND_LINE, with line and column 0, for an override. */
struct amp_rule_source {
    const char *file;
    int line, column; /* from 1; the column counts characters */
};

#define AMP_RULES_COMMAND_LINE "command line"

/* A pattern over names. */
struct amp_rule_pattern {
    const char *text;
    uint32_t hash;     /* of TEXT */
    bool is_glob;      /* TEXT is also the name itself */
    size_t prefix;     /* how many of its bytes all names begin with that it matches */
    const char *parts; /* amp_automaton_parts */
    size_t n_parts;
    const struct amp_automaton *automaton; /* NULL: nothing but TEXT itself matches */
};

/* Patterns of one kind, any of which may match. */
struct amp_rule_patterns {
    struct amp_rule_pattern *items;
    size_t count;
    uint32_t *automata; /* the indices of those that have one */
    size_t n_automata;
    struct amp_strmap by_text; /* empty where they are few */
};

/* A value to compare an attribute with. */
struct amp_rule_scalar {
    const char *text;
    bool is_number, is_integer; /* an integer is a number too */
    int64_t integer;
    double number;
};

struct amp_rule_tuple {
    struct amp_rule_scalar *items;
    size_t count;
};

/* One entry of `when`. For an attribute that holds a single value, the items of the one tuple are
   alternatives; for an attribute that holds a list, the tuples are. */
struct amp_rule_when {
    const char *attr;
    bool is_nested; /* written as a list of lists */
    struct amp_rule_tuple *tuples;
    size_t n_tuples;
};

/* The number of dimensions of an input: one of ITEMS. */
struct amp_rule_ranks {
    int64_t *items;
    size_t count; /* 0: any */
};

/* The inputs whose rank a condition may ask for: the first two. */
enum { AMP_RULE_RANKS = 2 };

/* What a node must be like; all of it has to hold. A rank that is not known fits none. */
struct amp_rule_condition {
    struct amp_rule_when *when;
    size_t n_when;
    struct amp_rule_ranks ranks[AMP_RULE_RANKS];
    bool contracts; /* only where it sums over what its inputs share (amp_op.contracts) */
};

/* The domain of composites, groups of nodes that stand for one operator (pattern/composites.h):
   "composite::Swish". */
#define AMP_RULES_COMPOSITE "composite"

/* An operator that a rule names; a name of PyTorch's may stand for several. */
struct amp_rule_op {
    const char *domain; /* "": ai.onnx; AMP_RULES_COMPOSITE */
    const char *name;   /* NULL: an operator of PyTorch's without a form in ONNX */
    const char *word;   /* as the rule names it: "Conv", "conv2d", "com.microsoft::FusedConv" */
    bool is_torch;      /* WORD is a name of PyTorch's */
    int line;           /* where the rule names it; 0 in an override */
    const struct amp_rule_condition *condition; /* of PyTorch's name; NULL: none */
    const char *reason;                         /* why there is no form; NULL: there is one */
};

struct amp_rule_ops {
    struct amp_rule_op *items;
    size_t count, capacity;
};

/* The lower dtypes, as a mask of AMP_DTYPE_BIT. */
#define AMP_RULES_DTYPES (AMP_DTYPE_BIT(AMP_BFLOAT16) | AMP_DTYPE_BIT(AMP_FLOAT16))

/* A rule matches when each selector that it has (count > 0) matches. */
struct amp_rule {
    enum amp_precision precision;
    uint32_t dtypes; /* the lower dtypes that it is for, of AMP_RULES_DTYPES; 0: all */
    struct amp_rule_source source;
    const char *place;       /* what the user knows it by: "--node x=fp32", "my.yaml:4"; NULL: it is
                                not the user's own, and need not match anything */
    struct amp_rule_op *ops; /* any of them */
    size_t n_ops;
    struct amp_rule_patterns nodes;       /* globs over the node's name */
    struct amp_rule_patterns nodes_regex; /* regular expressions over the node's name */
    struct amp_rule_patterns tensors;     /* globs over the name of one of its outputs */
    struct amp_rule_condition condition;
};

/* Whether constants take part when PyTorch would promote the dtypes of inputs to the widest. */
enum amp_constants {
    AMP_CONSTANTS_FOLLOW,  /* they take the dtype of the other inputs, offline */
    AMP_CONSTANTS_PROMOTE, /* those with dims do, as in PyTorch parameters and buffers */
    AMP_CONSTANTS_COUNT
};

/* Whether what values come to keeps nodes in float32. */
enum amp_rule_guards {
    AMP_GUARDS_UNSAID, /* as sets before say: they do */
    AMP_GUARDS_ON,
    AMP_GUARDS_OFF
};

/* What keeps a node that would use a value in a dtype in float32. */
struct amp_rule_limits {
    double weight_max, activation_max; /* magnitudes above which it stays: above 0, at most the
                                          dtype's largest finite value */
    double margin;    /* what the largest magnitude seen is multiplied with before: from 1 */
    double flush_max; /* the share of a value's energy that may become 0: above 0, at most 1; only
                         float16 has it, as bfloat16 has the exponents of float32 */
    enum amp_rule_guards guards;
};

/* Of random inputs what was seen is multiplied with this as well, as they are no data. */
enum { AMP_RULE_RANDOM_MARGIN = 2 };

/* One loaded set, what it extends included. */
struct amp_rule_set {
    const char *name;
    const char *description; /* "" when it has none */
    const char *file;        /* as in amp_rule_source */
    uint32_t dtypes;         /* the lower dtypes that it is for; never empty */
};

struct amp_rules {
    struct amp_arena *arena;
    struct amp_rule *items; /* the last match decides */
    size_t count, capacity;
    enum amp_precision unlisted; /* of nodes that no rule matches; never AMP_WIDEST */
    enum amp_constants constants;
    struct amp_rule_limits bf16, fp16;
    struct amp_rule_set *sets; /* in the order of loading */
    size_t n_sets, sets_capacity;
    size_t n_files, n_bytes, n_values; /* read so far */
    const char **notes;                /* what the user should know of the loading, as texts */
    size_t n_notes, notes_capacity;
    struct amp_torch_map *torch; /* PyTorch's names; NULL: not read yet */
    struct amp_rule_work *work;  /* of matching names */
};

#endif
