#ifndef AMP_CLI_REPORT_TASK_H
#define AMP_CLI_REPORT_TASK_H

#include "check/task/eval.h"
#include "check/task/labels.h"

#include <stdio.h>

#include <jansson.h>

/* Prints a line per task metric that is defined, "99.72 % (359 of 360)", of two models (IS_PAIR)
   "... in fp32, ... converted"; with the output's name in front if IS_NAMED. */
void amp_report_task(FILE *file, const struct amp_task *task, bool is_named, bool is_pair);

/* Prints the line on what a command said of two models. */
void amp_report_eval(FILE *file, const struct amp_eval_check *check);

/* Prints the bounds that there are as parts of a line, "accuracy-drop <= 1 %", each behind MARK or
   a comma; returns what comes before the next part. */
const char *amp_report_task_bounds(FILE *file, const struct amp_task_bounds *bounds,
                                   const char *mark);

/* Adds the bounds that there are to OBJECT by their names: numbers, or text as "1 %" for those that
   are relative. */
void amp_json_task_bounds(json_t *object, const struct amp_task_bounds *bounds);

/* [{"output", "labels", "metrics": {"accuracy": VALUE}, "within", "reason"}, ...]: a new reference.
   VALUE is a number, of two models {"reference", "converted", "loss"}; "within" goes with two,
   "reason" only where they are outside. */
json_t *amp_json_tasks(const struct amp_task *tasks, size_t count, bool is_pair);

/* {"output", "reference": {"rows", "right", "percent"}, "converted"} of the first of the tasks that
   has classes, "rows", "right" and "percent" beside the output for one model: a new reference; NULL
   when none has. */
json_t *amp_json_accuracy(const struct amp_task *tasks, size_t count, bool is_pair);

/* {"command", "reference": {"verdict", "score", "seconds", "reason"}, "converted", "loss",
   "within", "reason"}: a new reference. "score" and "loss" only where there are scores, "reason"
   where there is one. */
json_t *amp_json_eval(const struct amp_eval_check *check);

#endif
