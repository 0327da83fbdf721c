/* Prints the operator definitions that libonnx carries as lines of facts, for table.py. */
/* Takes no arguments; writes to stdout one record per operator and version of ai.onnx, ai.onnx.ml
 * and ai.onnx.preview.training. Fields are separated by tabs:
 *
 *     op    domain  name  since  deprecated  function  min_inputs  max_inputs  min_outputs
 *           max_outputs
 *     type  variable  allowed types joined by ", "
 *     in    name  type  single|optional|variadic  homogeneous  min_arity
 *     out   name  type  single|optional|variadic  homogeneous  min_arity
 *     attr  name  attribute type  required  default        (field absent: no default)
 *
 * changelog.py writes such lines from ONNX's documentation, contrib.py from ONNX Runtime. How all
 * three are run: see table.py. */

#include <onnx/defs/schema.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <vector>

using onnx::AttributeProto;
using onnx::OpSchema;

static std::string float_text(float value)
{
    char text[32];
    auto end = std::to_chars(text, text + sizeof(text), value)
                   .ptr; // shortest text that reads back the same
    return std::string(text, end);
}

template <class List, class Format> static std::string joined(const List &list, Format format)
{
    std::string text;
    for (const auto &item : list)
        text += (text.empty() ? "" : ", ") + format(item);
    return text;
}

static std::string same(const std::string &text)
{
    return text;
}

static std::string default_text(const AttributeProto &value)
{
    switch (value.type()) {
    case AttributeProto::FLOAT:
        return float_text(value.f());
    case AttributeProto::INT:
        return std::to_string(value.i());
    case AttributeProto::STRING:
        return value.s();
    case AttributeProto::FLOATS:
        return "[" + joined(value.floats(), float_text) + "]";
    case AttributeProto::INTS:
        return "[" + joined(value.ints(), [](long long i) { return std::to_string(i); }) + "]";
    case AttributeProto::STRINGS:
        return "[" + joined(value.strings(), same) + "]";
    default: // a tensor: its values only say "none given", which is what an absent default says too
        return "";
    }
}

static void print_params(const char *kind, const std::vector<OpSchema::FormalParameter> &params)
{
    static const char *const options[] = {"single", "optional", "variadic"};
    for (const auto &p : params)
        std::printf("%s\t%s\t%s\t%s\t%d\t%d\n", kind, p.GetName().c_str(), p.GetTypeStr().c_str(),
                    options[p.GetOption()], p.GetIsHomogeneous(), p.GetMinArity());
}

static void print_attributes(const OpSchema &schema)
{
    for (const auto &[name, attr] : schema.attributes()) {
        std::printf("attr\t%s\t%s\t%d", name.c_str(),
                    AttributeProto::AttributeType_Name(attr.type).c_str(), attr.required);
        bool has_default =
            !attr.default_value.name().empty() && attr.type != AttributeProto::TENSOR;
        if (has_default)
            std::printf("\t%s", default_text(attr.default_value).c_str());
        std::printf("\n");
    }
}

static void print_schema(const OpSchema &schema)
{
    std::printf("op\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", schema.domain().c_str(),
                schema.Name().c_str(), schema.SinceVersion(), schema.Deprecated(),
                schema.HasFunction() || schema.HasContextDependentFunction(), schema.min_input(),
                schema.max_input(), schema.min_output(), schema.max_output());
    for (const auto &constraint : schema.typeConstraintParams())
        std::printf("type\t%s\t%s\n", constraint.type_param_str.c_str(),
                    joined(constraint.allowed_type_strs, same).c_str());
    print_params("in", schema.inputs());
    print_params("out", schema.outputs());
    print_attributes(schema);
}

int main()
{
    for (const OpSchema &schema : onnx::OpSchemaRegistry::get_all_schemas_with_history())
        if (schema.domain().empty() || schema.domain() == "ai.onnx.ml" ||
            schema.domain() == "ai.onnx.preview.training")
            print_schema(schema);
    return std::fflush(stdout) == 0 ? 0 : 1;
}
