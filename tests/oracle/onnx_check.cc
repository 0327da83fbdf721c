// ONNX's own checker, with strict type and shape inference (onnx.checker.check_model(path,
// full_check=True)).
//   onnx_check MODEL...    exit status 0: all are valid; 1: one is not, with ONNX's reason on
//   stderr
#include <cstdio>
#include <exception>

#include "onnx/checker.h"

static bool is_valid(const char *path)
{
    try {
        onnx::checker::check_model(path, true);
        return true;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "onnx_check: %s: %s\n", path, error.what());
        return false;
    }
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++) {
        if (!is_valid(argv[i])) {
            status = 1;
        }
    }
    return status;
}
