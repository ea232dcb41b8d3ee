// The commands of the tool: each reads its options from the command line's parse and returns an
// exit code.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace exactk::props::cli {

// Each adds one subcommand to `app` and sets `chosen` when the command is given.
using Chosen = std::function<int()>;
void add_list(CLI::App& app, Chosen& chosen);
void add_run(CLI::App& app, Chosen& chosen);
void add_replay(CLI::App& app, Chosen& chosen);
void add_shrink(CLI::App& app, Chosen& chosen);
void add_power(CLI::App& app, Chosen& chosen);
void add_bench(CLI::App& app, Chosen& chosen);
void add_check(CLI::App& app, Chosen& chosen);
void add_metadata(CLI::App& app, Chosen& chosen);
void add_gate(CLI::App& app, Chosen& chosen);

}  // namespace exactk::props::cli
