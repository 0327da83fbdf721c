/*
 * Documents against a JSON Schema: takes what the program wrote, says what is not as the schema has
 * it, and what the schema has that nothing has.
 */
#include "commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum { PLACE_MAX = 512 };

struct check {
    json_t *root; /* of the schema */
    char why[PLACE_MAX * 2];
};

static bool matches(struct check *check, json_t *schema, json_t *value, const char *place);

static bool fail(struct check *check, const char *place, const char *what, const char *name)
{
    snprintf(check->why, sizeof check->why, "%s: %s%s", place, what, name);
    return false;
}

static bool is_type(const char *type, json_t *value)
{
    return (!strcmp(type, "object") && json_is_object(value)) ||
           (!strcmp(type, "array") && json_is_array(value)) ||
           (!strcmp(type, "string") && json_is_string(value)) ||
           (!strcmp(type, "integer") && json_is_integer(value)) ||
           (!strcmp(type, "number") && json_is_number(value)) ||
           (!strcmp(type, "boolean") && json_is_boolean(value)) ||
           (!strcmp(type, "null") && json_is_null(value));
}

static bool has_type(json_t *type, json_t *value)
{
    bool is = type == NULL || (json_is_string(type) && is_type(json_string_value(type), value));
    for (size_t i = 0; i < json_array_size(type); i++)
        is |= is_type(json_string_value(json_array_get(type, i)), value);
    return is;
}

static bool is_listed(json_t *list, json_t *value)
{
    bool is = list == NULL;
    for (size_t i = 0; i < json_array_size(list); i++)
        is |= json_equal(json_array_get(list, i), value);
    return is;
}

/* The schema that "#/$defs/NAME" refers to. */
static json_t *referred(const struct check *check, json_t *reference)
{
    const char *text = json_string_value(reference), *slash = strrchr(text, '/');
    json_t *found = json_object_get(json_object_get(check->root, "$defs"), slash + 1);
    if (found != NULL)
        return found;
    fprintf(stderr, "schema: %s: there is no such definition\n", text);
    exit(2);
}

static bool matches_member(struct check *check, json_t *schema, const char *key, json_t *value,
                           const char *place)
{
    char inner[PLACE_MAX];
    json_t *property = json_object_get(json_object_get(schema, "properties"), key);
    json_t *others = json_object_get(schema, "additionalProperties");
    snprintf(inner, sizeof inner, "%s/%s", place, key);
    if (property == NULL && json_is_false(others))
        return fail(check, place, "not in the schema: ", key);
    if (property == NULL)
        return others == NULL || json_is_true(others) || matches(check, others, value, inner);
    if (!matches(check, property, value, inner))
        return false;
    json_object_set_new(property, "seen", json_true());
    return true;
}

static bool matches_object(struct check *check, json_t *schema, json_t *value, const char *place)
{
    json_t *required = json_object_get(schema, "required");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        if (json_object_get(value, name) == NULL)
            return fail(check, place, "not there: ", name);
    }
    for (void *at = json_object_iter(value); at != NULL; at = json_object_iter_next(value, at))
        if (!matches_member(check, schema, json_object_iter_key(at), json_object_iter_value(at),
                            place))
            return false;
    return true;
}

static bool matches_items(struct check *check, json_t *schema, json_t *value, const char *place)
{
    char inner[PLACE_MAX];
    json_t *items = json_object_get(schema, "items");
    for (size_t i = 0; items != NULL && i < json_array_size(value); i++) {
        snprintf(inner, sizeof inner, "%s/%zu", place, i);
        if (!matches(check, items, json_array_get(value, i), inner))
            return false;
    }
    return true;
}

static bool matches_any(struct check *check, json_t *choices, json_t *value, const char *place)
{
    char why[sizeof check->why] = "";
    for (size_t i = 0; i < json_array_size(choices); i++) {
        if (matches(check, json_array_get(choices, i), value, place))
            return true;
        /* What came furthest is what was meant. */
        if (strcspn(check->why, ":") > strcspn(why, ":") || why[0] == '\0')
            memcpy(why, check->why, sizeof why);
    }
    memcpy(check->why, why, sizeof why);
    return choices == NULL;
}

static bool matches(struct check *check, json_t *schema, json_t *value, const char *place)
{
    json_t *reference = json_object_get(schema, "$ref");
    json_t *only = json_object_get(schema, "const");
    if (reference != NULL && !matches(check, referred(check, reference), value, place))
        return false;
    if (!has_type(json_object_get(schema, "type"), value))
        return fail(check, place, "of another type", "");
    if ((only != NULL && !json_equal(only, value)) ||
        !is_listed(json_object_get(schema, "enum"), value))
        return fail(check, place, "another value", "");
    return matches_any(check, json_object_get(schema, "anyOf"), value, place) &&
           (!json_is_object(value) || matches_object(check, schema, value, place)) &&
           (!json_is_array(value) || matches_items(check, schema, value, place));
}

/* Prints the properties that no document had. */
static int print_unseen(json_t *root)
{
    int status = 0;
    json_t *definitions = json_object_get(root, "$defs");
    for (void *d = json_object_iter(definitions); d; d = json_object_iter_next(definitions, d)) {
        json_t *properties = json_object_get(json_object_iter_value(d), "properties");
        for (void *p = json_object_iter(properties); p; p = json_object_iter_next(properties, p))
            if (json_object_get(json_object_iter_value(p), "seen") == NULL) {
                printf("%s/%s: in no document\n", json_object_iter_key(d), json_object_iter_key(p));
                status = 1;
            }
    }
    return status;
}

int schema_check(const char *schema, char *const *paths, int count)
{
    json_error_t error;
    int status = 0;
    struct check check = {.root = json_load_file(schema, 0, &error)};
    if (check.root == NULL) {
        printf("%s:%d: %s\n", schema, error.line, error.text);
        return 2;
    }
    for (int i = 0; i < count; i++) {
        json_t *document = json_load_file(paths[i], JSON_REJECT_DUPLICATES, &error);
        bool is_right = document != NULL && matches(&check, check.root, document, "");
        if (!is_right)
            printf("%s: %s\n", paths[i], document == NULL ? error.text : check.why);
        status |= !is_right;
        json_decref(document);
    }
    status |= print_unseen(check.root);
    json_decref(check.root);
    return status;
}
