/*
 * `ampconv completion`: prints the script by which a shell completes options and their values. All
 * of it comes from the tables of options and commands (option_table.c) and from completion_words.c;
 * what is written out here is how a shell is told.
 */
#include "cli/completion.h"

#include "cli/completion_words.h"
#include "cli/options/help.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct script {
    FILE *file;
    struct amp_arena *arena;
};

/* ---- what all of them need ------------------------------------------------------------------- */

static const char *shell_at(size_t i);

/* The names of the commands that have one, and `help`, spaces between. */
static const char *command_names(struct amp_arena *arena)
{
    const char *text = "help";
    for (size_t i = 1; amp_command_words_at(i) != NULL; i++)
        text = amp_arena_printf(arena, "%s %s", text, amp_command_words_at(i)->name);
    return text;
}

static const char *shell_names(struct amp_arena *arena)
{
    const char *text = shell_at(0);
    for (size_t i = 1; shell_at(i) != NULL; i++)
        text = amp_arena_printf(arena, "%s %s", text, shell_at(i));
    return text;
}

/* What stands in the place of a model: words of the command that takes no model, else files. */
static struct amp_option_values operands_of(enum amp_command command, struct amp_arena *arena)
{
    struct amp_option_values values = {.words = "", .behind = "", .path = AMP_PATH_FILE};
    if (command == AMP_CMD_RULES)
        values.words = amp_rule_set_words(arena);
    if (command == AMP_CMD_COMPLETION)
        values = (struct amp_option_values){.words = shell_names(arena), .behind = ""};
    return values;
}

/* What a character is written as where it would mean something. */
struct escape {
    char character;
    const char *text;
};

/* TEXT with the N ESCAPES. */
static const char *escape(const struct script *script, const char *text,
                          const struct escape *escapes, size_t n)
{
    const char *escaped = "";
    for (; *text != '\0'; text++) {
        char alone[2] = {*text, '\0'};
        const char *written = alone;
        for (size_t i = 0; i < n; i++)
            if (escapes[i].character == *text)
                written = escapes[i].text;
        escaped = amp_arena_printf(script->arena, "%s%s", escaped, written);
    }
    return escaped;
}

/* The help of OPTION without its default. */
static const char *help_of(const struct script *script, const struct amp_option *option)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        return "";
    amp_help_print_text(file, option);
    fclose(file);
    const char *end = strstr(text, " [default");
    size_t length = end != NULL ? (size_t)(end - text) : size;
    const char *help = amp_arena_strndup(script->arena, text, length);
    free(text);
    return help;
}

static bool is_repeatable(const struct amp_option *option)
{
    return option->kind == AMP_OPTION_LIST || option->kind == AMP_OPTION_COUNT;
}

/* Whether the value of OPTION may be left out, and then stands behind '='. */
static bool is_optional(const struct amp_option *option)
{
    return option->kind == AMP_OPTION_FORMAT || option->kind == AMP_OPTION_REPORT;
}

static const char *const path_words[] = {
    [AMP_PATH_NONE] = "", [AMP_PATH_FILE] = "files", [AMP_PATH_FOLDER] = "folders"};

/* "files" or "folders" for those that may stand in the value, then for those behind its '='. */
static const char *path_of(struct amp_option_values values, bool is_behind)
{
    bool is_there = is_behind == values.is_pair || values.is_bare;
    return is_there ? path_words[values.path] : "";
}

static void put(const struct script *script, const char *text)
{
    fputs(text, script->file);
}

/* ---- bash ------------------------------------------------------------------------------------ */

static const char bash_end[] =
    "# The words are taken as they were typed, which bash has cut at = and :.\n"
    "_ampconv() {\n"
    "  local command=convert value= words= behind= files= files_behind=\n"
    "  local i=$COMP_CWORD text=${COMP_WORDS[COMP_CWORD]} option typed word\n"
    "  COMPREPLY=()\n"
    "  while ((i > 1)) && [[ ${COMP_WORDS[i]} == [=:]* || ${COMP_WORDS[i - 1]} == [=:]* ]]; do\n"
    "    text=${COMP_WORDS[--i]}$text\n"
    "  done\n"
    "  if ((i > 1)) && [[ \" $_ampconv_commands \" == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
    "    command=${COMP_WORDS[1]}\n"
    "  fi\n"
    "  if [[ $text == --*=* ]]; then\n"
    "    option=${text%%=*} text=${text#*=}\n"
    "    _ampconv_value \"$command $option\"\n"
    "  else\n"
    "    _ampconv_value \"$command ${COMP_WORDS[i - 1]}\"\n"
    "    if [[ $value != word && $value != pair ]]; then\n"
    "      value= words= behind= files= files_behind=\n"
    "      if [[ $text == -* ]]; then\n"
    "        _ampconv_options \"$command\"\n"
    "      else\n"
    "        _ampconv_value \"$command\"\n"
    "        ((i > 1)) || words=\"$words $_ampconv_commands\"\n"
    "      fi\n"
    "    fi\n"
    "  fi\n"
    "  typed=\n"
    "  if [[ $value == pair && $text == *=* ]]; then\n"
    "    typed=${text%=*}= words=$behind files=$files_behind value=word\n"
    "  fi\n"
    "  [[ $value != pair ]] || compopt -o nospace 2>/dev/null\n"
    "  for word in $words; do\n"
    "    [[ $value != pair || \" $behind \" == *\" $word \"* ]] || word+==\n"
    "    [[ $typed$word != \"$text\"* ]] || COMPREPLY+=(\"$typed$word\")\n"
    "  done\n"
    "  if [[ -n $files ]]; then\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    local action=-f\n"
    "    [[ $files != folders ]] || action=-d\n"
    "    while IFS= read -r word; do COMPREPLY+=(\"$typed$word\"); done \\\n"
    "      < <(compgen $action -- \"${text#\"$typed\"}\")\n"
    "  fi\n"
    "  typed=${text%\"${text##*[=:]}\"}\n"
    "  COMPREPLY=(\"${COMPREPLY[@]#\"$typed\"}\")\n"
    "}\n"
    "complete -F _ampconv ampconv\n";

/* Prints the patterns by which OPTION is called in the commands that have it. */
static void put_bash_patterns(const struct script *script, const struct amp_option *option)
{
    const char *separator = "    ";
    for (size_t i = 1; amp_command_words_at(i) != NULL; i++) {
        const struct amp_command_words *words = amp_command_words_at(i);
        if (!(option->commands & words->command))
            continue;
        amp_print(script->file, "%s'%s --%s'", separator, words->name, option->name);
        separator = " | ";
        if (option->letter != 0)
            amp_print(script->file, " | '%s -%c'", words->name, option->letter);
    }
    put(script, ")\n");
}

static void put_bash_values(const struct script *script, struct amp_option_values values)
{
    amp_print(script->file, "      words='%s' behind='%s' files=%s files_behind=%s ;;\n",
              values.words, values.behind, path_of(values, false), path_of(values, true));
}

static void put_bash_options(const struct script *script, const struct amp_command_words *words)
{
    const struct amp_option *option;
    amp_print(script->file, "    %s) words='", words->name);
    for (size_t i = 0; (option = amp_option_at(i)) != NULL; i++)
        if (option->commands & words->command) {
            amp_print(script->file, " --%s", option->name);
            if (option->letter != 0)
                amp_print(script->file, " -%c", option->letter);
        }
    put(script, "' ;;\n");
}

static void write_bash(const struct script *script)
{
    const struct amp_option *option;
    const struct amp_command_words *words;
    amp_print(script->file,
              "# bash completion for ampconv, by `ampconv completion bash`\n"
              "_ampconv_commands='%s'\n"
              "_ampconv_options() { # COMMAND\n"
              "  case $1 in\n",
              command_names(script->arena));
    for (size_t i = 1; (words = amp_command_words_at(i)) != NULL; i++)
        put_bash_options(script, words);
    put(script, "  esac\n"
                "}\n"
                "_ampconv_value() { # COMMAND OPTION, or COMMAND for what is no option\n"
                "  case $1 in\n"
                "    help) words=$_ampconv_commands ;;\n");
    for (size_t i = 1; (words = amp_command_words_at(i)) != NULL; i++) {
        amp_print(script->file, "    %s)\n", words->name);
        put_bash_values(script, operands_of(words->command, script->arena));
    }
    for (size_t i = 0; (option = amp_option_at(i)) != NULL; i++) {
        if (option->argument == NULL)
            continue;
        struct amp_option_values values = amp_option_values(option, script->arena);
        put_bash_patterns(script, option);
        amp_print(script->file, "      value=%s\n",
                  is_optional(option) ? "optional"
                  : values.is_pair    ? "pair"
                                      : "word");
        put_bash_values(script, values);
    }
    put(script, "  esac\n}\n");
    put(script, bash_end);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static const char zsh_begin[] =
    "#compdef ampconv\n"
    "# zsh completion for ampconv, by `ampconv completion zsh`\n"
    "\n"
    "_ampconv_value() { # WORDS FILES, both again for what stands behind =, and pair where it may\n"
    "  local pair=$5\n"
    "  if [[ -n $pair ]] && compset -P '*='; then\n"
    "    set -- \"$3\" \"$4\" '' ''\n"
    "    pair=\n"
    "  fi\n"
    "  local -a all behind named alone\n"
    "  all=(${=1}) behind=(${=3}) alone=(${=1})\n"
    "  if [[ -n $pair ]]; then named=(${all:|behind}) alone=(${all:*behind}); fi\n"
    "  (( ! $#alone )) || compadd -- $alone\n"
    "  (( ! $#named )) || compadd -S = -- $named\n"
    "  case $2 in files) _files ;; folders) _files -/ ;; esac\n"
    "}\n"
    "\n"
    "_ampconv() {\n"
    "  local command=convert\n";

static const char zsh_end[] = "  esac\n"
                              "}\n"
                              "\n"
                              "if [[ $funcstack[1] = _ampconv ]]; then\n"
                              "  _ampconv \"$@\"\n"
                              "else\n"
                              "  compdef _ampconv ampconv\n"
                              "fi\n";

static const struct escape zsh_escapes[] = {
    {'[', "\\["}, {']', "\\]"}, {':', "\\:"}, {'\\', "\\\\"}, {'\'', "'\\''"}};

/* Prints what completes VALUES, called WHAT. */
static void put_zsh_value(const struct script *script, const char *what,
                          struct amp_option_values values)
{
    amp_print(script->file, ":%s:{_ampconv_value \"%s\" \"%s\" \"%s\" \"%s\"%s}'",
              escape(script, what, zsh_escapes, AMP_COUNT(zsh_escapes)), values.words,
              path_of(values, false), values.behind, path_of(values, true),
              values.is_pair ? " pair" : "");
}

/* Prints the names of OPTION, and that they may be repeated or exclude each other. */
static void put_zsh_names(const struct script *script, const struct amp_option *option)
{
    const char *joined = option->argument == NULL ? "" : is_optional(option) ? "=-" : "=";
    const char *added = option->argument == NULL ? "" : "+";
    bool repeats = is_repeatable(option);
    if (option->letter == 0)
        amp_print(script->file, "      '%s--%s%s", repeats ? "*" : "", option->name, joined);
    else if (repeats)
        amp_print(script->file, "      \\*{-%c%s,--%s%s}'", option->letter, added, option->name,
                  joined);
    else
        amp_print(script->file, "      '(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name,
                  option->letter, added, option->name, joined);
}

static void put_zsh_option(const struct script *script, const struct amp_option *option)
{
    put_zsh_names(script, option);
    amp_print(script->file, "[%s]",
              escape(script, help_of(script, option), zsh_escapes, AMP_COUNT(zsh_escapes)));
    if (option->argument == NULL) {
        put(script, "' \\\n");
        return;
    }
    put(script, is_optional(option) ? ":" : "");
    put_zsh_value(script, option->argument, amp_option_values(option, script->arena));
    put(script, " \\\n");
}

static void write_zsh(const struct script *script)
{
    const struct amp_option *option;
    const struct amp_command_words *words;
    put(script, zsh_begin);
    amp_print(script->file,
              "  local -a commands=(%s)\n"
              "  if (( CURRENT > 2 )) && (( ${commands[(Ie)$words[2]]} )); then\n"
              "    command=$words[2]\n"
              "    shift words\n"
              "    (( CURRENT-- ))\n"
              "  elif (( CURRENT == 2 )); then\n"
              "    compadd -- $commands\n"
              "  fi\n"
              "  case $command in\n"
              "  help) compadd -- ${commands:#help} ;;\n",
              command_names(script->arena));
    for (size_t i = 1; (words = amp_command_words_at(i)) != NULL; i++) {
        amp_print(script->file, "  %s)\n    _arguments -s -S \\\n", words->name);
        for (size_t k = 0; (option = amp_option_at(k)) != NULL; k++)
            if (option->commands & words->command)
                put_zsh_option(script, option);
        put(script, "      '*");
        put_zsh_value(script, "MODEL", operands_of(words->command, script->arena));
        put(script, "\n    ;;\n");
    }
    put(script, zsh_end);
}

/* ---- fish ------------------------------------------------------------------------------------ */

static const char fish_functions[] =
    "function __ampconv_is # COMMAND...\n"
    "    set -l words (commandline -opc)\n"
    "    set -l command convert\n"
    "    if set -q words[2]; and contains -- $words[2] $__ampconv_commands\n"
    "        set command $words[2]\n"
    "    end\n"
    "    contains -- $command $argv\n"
    "end\n"
    "function __ampconv_is_first\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n"
    "function __ampconv_pair # WORDS BEHIND FILES FILES_BEHIND\n"
    "    set -l token (string replace -r -- '^--[a-z0-9-]+=' '' (commandline -ct))\n"
    "    if string match -q -- '*=*' $token\n"
    "        set -l name (string replace -r -- '=[^=]*$' '=' $token)\n"
    "        for word in (string split -n -- ' ' $argv[2])\n"
    "            echo $name$word\n"
    "        end\n"
    "        if test \"$argv[4]\" = files\n"
    "            for file in (__fish_complete_path (string replace -r -- '^.*=' '' $token))\n"
    "                echo $name$file\n"
    "            end\n"
    "        end\n"
    "    else\n"
    "        for word in (string split -n -- ' ' $argv[1])\n"
    "            if contains -- $word (string split -n -- ' ' $argv[2])\n"
    "                echo $word\n"
    "            else\n"
    "                echo $word=\n"
    "            end\n"
    "        end\n"
    "        if test \"$argv[3]\" = files\n"
    "            __fish_complete_path $token\n"
    "        end\n"
    "    end\n"
    "end\n";

static const struct escape fish_escapes[] = {{'\'', "\\'"}, {'\\', "\\\\"}};

/* Prints what completes the value of OPTION. */
static void put_fish_value(const struct script *script, const struct amp_option *option)
{
    struct amp_option_values values = amp_option_values(option, script->arena);
    bool has_files = values.path == AMP_PATH_FILE;
    if (values.is_pair)
        amp_print(script->file, " -x -a '(__ampconv_pair \"%s\" \"%s\" \"%s\" \"%s\")'",
                  values.words, values.behind, path_of(values, false), path_of(values, true));
    else if (is_optional(option))
        amp_print(script->file, "%s -a '%s'", has_files ? "" : " -f", values.words);
    else if (values.path == AMP_PATH_FOLDER)
        put(script, " -x -a '(__fish_complete_directories)'");
    else
        amp_print(script->file, " %s -a '%s'", has_files ? "-r -F" : "-x", values.words);
}

static void put_fish_option(const struct script *script, const struct amp_option *option)
{
    put(script, "complete -c ampconv -n '__ampconv_is");
    for (size_t i = 1; amp_command_words_at(i) != NULL; i++)
        if (option->commands & amp_command_words_at(i)->command)
            amp_print(script->file, " %s", amp_command_words_at(i)->name);
    amp_print(script->file, "' -l %s", option->name);
    if (option->letter != 0)
        amp_print(script->file, " -s %c", option->letter);
    if (option->argument != NULL)
        put_fish_value(script, option);
    amp_print(script->file, " -d '%s'\n",
              escape(script, help_of(script, option), fish_escapes, AMP_COUNT(fish_escapes)));
}

static void write_fish(const struct script *script)
{
    const struct amp_option *option;
    const struct amp_command_words *words;
    amp_print(script->file,
              "# fish completion for ampconv, by `ampconv completion fish`\n"
              "set -g __ampconv_commands %s\n",
              command_names(script->arena));
    put(script, fish_functions);
    put(script, "complete -c ampconv -n __ampconv_is_first -a \"$__ampconv_commands\"\n"
                "complete -c ampconv -n '__ampconv_is help' -f -a \"$__ampconv_commands\"\n");
    for (size_t i = 1; (words = amp_command_words_at(i)) != NULL; i++) {
        struct amp_option_values values = operands_of(words->command, script->arena);
        if (values.words[0] != '\0')
            amp_print(script->file, "complete -c ampconv -n '__ampconv_is %s' %s -a '%s'\n",
                      words->name, values.path == AMP_PATH_NONE ? "-f" : "-F", values.words);
    }
    for (size_t i = 0; (option = amp_option_at(i)) != NULL; i++)
        put_fish_option(script, option);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*write)(const struct script *script);
} shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};

static const char *shell_at(size_t i)
{
    return i < AMP_COUNT(shells) ? shells[i].name : NULL;
}

enum amp_status amp_command_completion(const struct amp_options *options, struct amp_error *err)
{
    const char *name = options->operands.items[0];
    for (size_t i = 0; i < AMP_COUNT(shells); i++) {
        if (strcmp(shells[i].name, name) != 0)
            continue;
        struct script script = {stdout, amp_arena_create()};
        shells[i].write(&script);
        amp_arena_destroy(script.arena);
        return AMP_OK;
    }
    return amp_fail(err, AMP_USAGE, "completion %s: bash, zsh or fish is needed", name);
}
