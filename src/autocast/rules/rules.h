#ifndef AMP_AUTOCAST_RULES_RULES_H
#define AMP_AUTOCAST_RULES_RULES_H

#include "core/graph/graph.h"
#include "core/status.h"

/*
 * Which precision a node is to have: rule sets read from YAML files (ampconv-rules(5)) and
 * overrides, in one ordered list of which the last rule that matches a node decides. What a
 * precision means for a node, and whether the node can have it, is not decided here.
 */
enum amp_precision {
    AMP_FOLLOW, /* the type of its inputs, the widest where they differ */
    AMP_LOWER,  /* the lower dtype */
    AMP_FP32,
    AMP_WIDEST, /* the widest of its inputs' types */
    AMP_INFER,  /* AMP_LOWER between nodes of AMP_LOWER unless below one of AMP_FP32, else AMP_FP32:
                   wishes.h */
    AMP_CLEAR,  /* the same next to nodes of AMP_LOWER, too */
    AMP_PRECISION_COUNT
};

/* "follow", "lower", "fp32", "widest", "infer", "clear". */
const char *amp_precision_name(enum amp_precision precision);

/* AMP_USAGE with the nearest name when WORD is no precision. */
enum amp_status amp_precision_parse(const char *word, enum amp_precision *precision,
                                    struct amp_error *err);

/* Where a rule was written: FILE is the path as given,
   "NAME.yaml" for a set found by its name, and AMP_RULES_COMMAND_LINE, with line and column 0, for
   an override. */
struct amp_rule_source {
    const char *file;
    int line, column; /* from 1; the column counts characters */
};

#define AMP_RULES_COMMAND_LINE "command line"

struct amp_rule_work;

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

/* The keys of `when` for the ranks: "input_rank", "second_rank". */
extern const char *const amp_rule_rank_keys[AMP_RULE_RANKS];

/* "Conv", "com.microsoft::FusedConv", "composite::Swish", in ARENA; of an operator with a name. */
const char *amp_rule_op_text(struct amp_arena *arena, const struct amp_rule_op *op);

/* The lower dtypes, as a mask of AMP_DTYPE_BIT. */
#define AMP_RULES_DTYPES (AMP_DTYPE_BIT(AMP_BFLOAT16) | AMP_DTYPE_BIT(AMP_FLOAT16))

/* A rule matches when each selector that it has (count > 0) matches. */
struct amp_rule {
    enum amp_precision precision;
    uint32_t dtypes; /* the lower dtypes that it is for, of AMP_RULES_DTYPES; 0: all */
    struct amp_rule_source source;
    struct amp_rule_op *ops; /* any of them */
    size_t n_ops;
    struct amp_rule_patterns nodes;       /* globs over the node's name */
    struct amp_rule_patterns nodes_regex; /* the same, as regular expressions */
    struct amp_rule_patterns tensors;     /* globs over the name of one of its outputs */
    struct amp_rule_condition condition;
};

/* Magnitudes above which a node that would use them in a dtype stays in float32. */
struct amp_rule_limits {
    double weight_max, activation_max; /* above 0, at most the dtype's largest finite value */
};

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
    struct amp_rule_limits bf16, fp16;
    struct amp_rule_set *sets; /* in the order of loading */
    size_t n_sets, sets_capacity;
    size_t n_files, n_bytes, n_values; /* read so far */
    struct amp_torch_map *torch;       /* PyTorch's names; NULL: not read yet */
    struct amp_rule_work *work;        /* of matching names */
};

/* An empty list in ARENA, which must outlive it; everything is AMP_FOLLOW. */
struct amp_rules *amp_rules_create(struct amp_arena *arena);
void amp_rules_destroy(struct amp_rules *rules); /* NULL is fine */

/* Whether TEXT is the path of a rule file, not the name of a set: it holds a '/' or ends in .yaml
   or .yml. */
bool amp_rules_is_path(const char *text);

/*
 * Appends the rules of a set, after those it extends: a file when NAME_OR_FILE is a path, else the
 * set of that name among those that come with the program. What it says
 * of `unlisted` and `limits` replaces what was said before. AMP_USAGE for a name that there is not,
 * AMP_IO for a file that cannot be read, AMP_RULES with place, line and caret for one that is
 * wrong; RULES is then only good to be destroyed.
 */
enum amp_status amp_rules_load(struct amp_rules *rules, const char *name_or_file,
                               struct amp_error *err);

/* Appends a rule for all nodes of operator OP ("Conv", "com.microsoft::FusedConv", PyTorch's
   "conv2d"). AMP_USAGE when neither ONNX nor PyTorch has such an operator. */
enum amp_status amp_rules_add_op(struct amp_rules *rules, const char *op,
                                 enum amp_precision precision, struct amp_rule_source source,
                                 struct amp_error *err);

/* Appends a rule for the nodes whose name matches the glob PATTERN. AMP_USAGE when it is too long.
 */
enum amp_status amp_rules_add_node(struct amp_rules *rules, const char *pattern,
                                   enum amp_precision precision, struct amp_rule_source source,
                                   struct amp_error *err);

/* "bf16", "fp16" or "bf16, fp16" for a mask of lower dtypes that is not empty. */
const char *amp_rules_dtypes_text(uint32_t dtypes);

/* Settles that the rules are for DTYPE, a lower dtype: those for others go. AMP_RULES with the
   set's name when one of the loaded sets is not for it. */
enum amp_status amp_rules_set_dtype(struct amp_rules *rules, enum amp_dtype dtype,
                                    struct amp_error *err);

/* The limits for float16 or bfloat16; NULL for other dtypes. */
const struct amp_rule_limits *amp_rules_limits(const struct amp_rules *rules, enum amp_dtype dtype);

/* The names of the sets that come with the program, sorted; COUNT of them. AMP_IO when their folder
   cannot be read. */
enum amp_status amp_rules_names(struct amp_arena *arena, const char *const **names, size_t *count,
                                struct amp_error *err);

/*
 * What a rule looks at: a node, or a composite. For a composite, NODE is the one whose first inputs
 * are the whole's, DOMAIN is AMP_RULES_COMPOSITE and OP_TYPE its name; a rule that names ai.onnx's
 * operator of that name (LayerNormalization) matches too. A composite has no attributes, so that a
 * rule with `when` on one does not match.
 */
struct amp_rule_subject {
    const struct amp_model *model;
    uint32_t node;
    const char *domain, *op_type;
};

struct amp_rule_subject amp_rule_subject(const struct amp_model *model, uint32_t node);

/* The last matching rule; NULL when none matches (then rules->unlisted decides), and when all of
   this took too long, which amp_rules_check_work then says. */
const struct amp_rule *amp_rules_match_subject(const struct amp_rules *rules,
                                               const struct amp_rule_subject *subject);
const struct amp_rule *amp_rules_match(const struct amp_rules *rules, const struct amp_model *model,
                                       uint32_t node);

/* AMP_RULES, with the place of a rule, when matches with RULES so far were cut off because they
   looked at too much: operators, patterns, values and names. */
enum amp_status amp_rules_check_work(const struct amp_rules *rules, struct amp_error *err);

/* Which of the operators that RULE, one of RULES, names SUBJECT is, the first where several fit;
   NULL for a rule that names none. RULE must match SUBJECT. */
const struct amp_rule_op *amp_rule_named_op(const struct amp_rules *rules,
                                            const struct amp_rule *rule,
                                            const struct amp_rule_subject *subject);

/*
 * A node that is part of a composite. Rules look at the whole, or at its head where it has one (the
 * MatMul of linear), as if that were alone; rules that name nodes, tensors or operators of ONNX
 * look at the part as well. PyTorch's names do not: what PyTorch ran is the whole.
 */
struct amp_rule_part {
    struct amp_rule_subject self, whole, head;
    bool has_head;
};

/* The last rule that matches the part in one way or another, and *OP, by which of its operators as
   amp_rule_named_op has it; NULL, *OP NULL, when none does. */
const struct amp_rule *amp_rules_match_part(const struct amp_rules *rules,
                                            const struct amp_rule_part *part,
                                            const struct amp_rule_op **op);

#endif
