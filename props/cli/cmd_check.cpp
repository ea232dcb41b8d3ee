#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>

#include "props/build_info.h"
#include "props/cli/check_plan.h"
#include "props/cli/commands.h"
#include "props/cli/common.h"
#include "props/recorded.h"
#include "props/report.h"

namespace exactk::props::cli {
namespace {

struct CheckCommand {
  std::string op;
  RecordedFiles files;
  RecordedPlanFiles plan;
  std::vector<std::string> modes;
};

const std::map<std::string, oracle::ContractModes>& modes_by_name() {
  static const auto modes = [] {
    std::map<std::string, oracle::ContractModes> named;
    for (const auto mode : {oracle::kSet, oracle::kPrefix, oracle::kOrdered, oracle::kStable})
      named.emplace(oracle::name(mode), mode);
    return named;
  }();
  return modes;
}

// One sentence if the operation is not given its own files, and only them.
std::string wrong_files(const RecordedFiles& files) {
  if (files.logits.empty() || files.indices.empty())
    return fmt::format("{} takes --logits and --indices", fixtures::name(files.op));
  const bool bounds = !files.row_starts.empty() && !files.row_ends.empty();
  const bool any_bound = !files.row_starts.empty() || !files.row_ends.empty();
  if (files.op == fixtures::Op::kTopkDecode && (files.seq_lens.empty() || any_bound))
    return "topk.decode takes --seq-lens, and neither --row-starts nor --row-ends";
  if (files.op == fixtures::Op::kTopkDecode && files.absolute)
    return "--absolute is for topk.prefill; rows of topk.decode begin at column 0";
  if (files.op == fixtures::Op::kTopkPrefill && (!bounds || !files.seq_lens.empty()))
    return "topk.prefill takes --row-starts and --row-ends, and no --seq-lens";
  if (files.op == fixtures::Op::kTopkPrefill && files.next_n != 1)
    return "--next-n is for topk.decode; each row of topk.prefill has bounds of its own";
  return "";
}

bool any_topk_file(const RecordedFiles& files) {
  return !files.logits.empty() || !files.indices.empty() || !files.seq_lens.empty() ||
         !files.row_starts.empty() || !files.row_ends.empty();
}

int check(const CheckCommand& command) {
  RecordedFiles files = command.files;
  if (command.op == "mla.plan" ? any_topk_file(files) : any_plan_file(command.plan))
    return complain(kUsage, fmt::format("{} is not given its own files alone; see exactk check "
                                        "--help",
                                        command.op));
  if (command.op == "mla.plan") return check_plan(command.plan);
  files.op = command.op == "topk.decode" ? fixtures::Op::kTopkDecode : fixtures::Op::kTopkPrefill;
  if (const std::string error = wrong_files(files); !error.empty()) return complain(kUsage, error);
  oracle::ContractModes promised = oracle::kSet;
  for (const std::string& mode : command.modes) promised |= modes_by_name().at(mode);
  const auto judged = judge_recorded(files, promised);
  if (!judged) return complain(kUsage, judged.error());
  const Findings& found = judged->found;
  const bool weak = found.ok() && found.rows_selected == 0;
  fmt::print("{:<7} {}  recorded  contract {}\n",
             !found.ok() ? "FAILED"
             : weak      ? "WEAK"
                         : "PASSED",
             fixtures::name(files.op), modes_text(promised));
  fmt::print("shape   {}\n{}", judged->what, found.anatomy);
  if (!found.broke.empty()) fmt::print("broke   {}\n", found.broke);
  if (!found.ok()) fmt::print("why     {}\n", found.why);
  fmt::print("built   commit {}, {}\n", build_commit(), build_compiler());
  fmt::print("rows passed {}, failed {}\n", found.rows - judged->failing_rows,
             judged->failing_rows);
  if (!found.ok()) return kKernelFailed;
  if (found.rows == 0)
    return complain(kNothingJudged, "nothing was judged: there are no rows, or none has a slot");
  if (weak) {
    return complain(kNothingJudged,
                    "nothing was at stake: every row is empty, so no index was ever selected");
  }
  return kAllPassed;
}

}  // namespace

void add_check(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("check", "recorded tensors, .npy files, with no kernel");
  auto options = std::make_shared<CheckCommand>();
  RecordedFiles& files = options->files;
  command->add_option("--op", options->op, "topk.decode, topk.prefill or mla.plan")
      ->check(CLI::IsMember({"topk.decode", "topk.prefill", "mla.plan"}))
      ->required();
  command->add_option("--logits", files.logits, "[rows, width] float32, float16, uint16");
  command->add_flag("--bf16", files.bfloat16, "uint16 logits are the bits of bfloat16");
  command->add_option("--indices", files.indices, "[rows, k] int32, int64");
  command->add_option("--seq-lens", files.seq_lens,
                      "decode: int32, one per request, or one per row");
  command->add_option("--next-n", files.next_n, "decode: query rows per request")
      ->check(CLI::Range(int64_t{1}, fixtures::kRowsMax).description(""))
      ->capture_default_str();
  command->add_option("--row-starts", files.row_starts, "prefill: [rows] int32, first column");
  command->add_option("--row-ends", files.row_ends, "prefill: [rows] int32, one past the last");
  command->add_flag("--absolute", files.absolute,
                    "prefill: indices are columns, not relative to the row's start");
  command
      ->add_option("--modes", options->modes,
                   "what the answer promises: set, prefix, ordered, stable; several with commas "
                   "(default set)")
      ->delimiter(',')
      ->check(CLI::IsMember({"set", "prefix", "ordered", "stable"}));
  add_plan_options(*command, options->plan);
  command->callback([&chosen, options] { chosen = [options] { return check(*options); }; });
}

}  // namespace exactk::props::cli
