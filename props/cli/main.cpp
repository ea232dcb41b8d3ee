// exactk: judges GPU kernels of sparse attention exactly.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "props/build_info.h"
#include "props/cli/commands.h"
#include "props/cli/exit_code.h"
#include "props/internal_error.h"

namespace {

using namespace exactk::props;

int run_tool(int argc, char** argv) {
  CLI::App app{"Judges GPU kernels of sparse attention exactly.", "exactk"};
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", fmt::format("exactk 0.1.0, commit {}, {}", build_commit(), build_compiler()));
  cli::Chosen chosen;
  cli::add_list(app, chosen);
  cli::add_run(app, chosen);
  cli::add_replay(app, chosen);
  cli::add_shrink(app, chosen);
  cli::add_power(app, chosen);
  cli::add_bench(app, chosen);
  cli::add_check(app, chosen);
  cli::add_gate(app, chosen);
  cli::add_metadata(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "exactk: {}; see exactk --help\n", error.what());
    return cli::kUsage;
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_tool(argc, argv);
  } catch (const InternalError& error) {
    fmt::print(stderr, "exactk: internal inconsistency, no verdict: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "exactk: internal error, no verdict: {}\n", error.what());
  }
  return cli::kInternal;
}
