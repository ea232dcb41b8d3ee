#include "props/mla_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "fixtures/counter_hash.h"
#include "kernels/device/buffer.h"
#include "kernels/registry.h"
#include "oracle/mla_metadata.h"
#include "oracle/work_plan.h"
#include "props/internal_error.h"

namespace exactk::props {
namespace {

using Ints = std::vector<int32_t>;
using kernels::GuardedBuffer;
using kernels::Result;
using kernels::metadata::MlaMetadata;
using kernels::metadata::PlanArrays;

constexpr int64_t kBlockSize = 16;
constexpr int64_t kSplitUnit = 16;    // kv positions
constexpr int64_t kHeadsAtOnce = 16;  // that one worker has
constexpr int kStream = 1;

// What the device holds of a builder, or of a graph that reads it.
struct Held {
  Ints req_id, qo_indptr, last_page, indices, indptr;
  oracle::MlaBuffers view() const { return {req_id, qo_indptr, last_page, indices, indptr}; }
};
struct HeldPlan {
  Ints work_indptr, work_info, reduce_indptr, reduce_final_map, reduce_partial_map;
};

// One step as the oracle sees it.
struct Batch {
  Ints query_lens, seq_lens;
  oracle::MlaBatch view() const { return {query_lens, seq_lens}; }
};

Batch batch_of(const MlaCommand& build) {
  Batch batch;
  for (const MlaRequest& request : build.requests) {
    batch.query_lens.push_back(request.query_len);
    batch.seq_lens.push_back(request.seq_len);
  }
  return batch;
}

// Upper bounds with all of the slack, none and half of it in turns.
Ints bounds_of(const Ints& seq_lens, int64_t slack) {
  Ints bounds = seq_lens;
  for (size_t r = 0; r < bounds.size(); ++r) {
    const int64_t above = r % 3 == 0 ? slack : r % 3 == 1 ? 0 : slack / 2;
    bounds[r] += static_cast<int32_t>(above);
  }
  return bounds;
}

oracle::PlanKey key_at(int64_t row, int64_t position) {
  const uint64_t bits =
      fixtures::hash_pair(static_cast<uint64_t>(row), static_cast<uint64_t>(position));
  return {static_cast<int32_t>(bits % 9), static_cast<int32_t>(bits >> 44)};
}

const exactk_kernel& layer_kernel(std::string_view kind) {
  for (const exactk_kernel* kernel : kernels::target_kernels(kind)->shipped) {
    if (std::string_view(kernel->name) == "translate.rows") return *kernel;
  }
  throw InternalError("translate.rows is no kernel of this program");
}

class Session {
 public:
  using Failure = std::optional<MlaFailure>;

  Session(kernels::Device& device, const kernels::metadata::Variant& variant,
          const MlaProgram& program)
      : device_(device), variant_(variant), program_(program) {}

  MlaOutcome run() {
    state_ = first_state(program_);
    Failure failure = open();
    for (size_t i = 0; i < program_.commands.size() && !failure; ++i) {
      advance(state_, program_.commands[i]);
      failure = execute(program_.commands[i]);
      ++outcome_.commands;
      if (failure) failure->command = i;
    }
    const auto dropped = device_.drop_graph();
    outcome_.failure = failure ? std::move(failure) : checked(dropped);
    return outcome_;
  }

 private:
  static Failure fail(std::string what, std::string why) {
    return MlaFailure{0, std::move(what), std::move(why)};
  }
  template <class T>
  static Failure checked(const Result<T>& result) {
    return result ? std::nullopt : fail("device", result.error());
  }

  void* stream() { return device_.stream(kStream); }

  // What is uploaded before every build, or once.
  std::unique_ptr<GuardedBuffer> reserve(int64_t elements, Failure& failure) {
    auto made = GuardedBuffer::make(device_, std::max<int64_t>(elements, 1) * 4);
    if (made) return std::make_unique<GuardedBuffer>(std::move(*made));
    if (!failure) failure = fail("device", made.error());
    return nullptr;
  }

  Failure open() {
    auto builder = kernels::metadata::open_builder(
        variant_, device_, {program_.tokens, program_.k, program_.workers}, stream());
    if (!builder) return fail("device", builder.error());
    builder_ = std::move(*builder);
    int64_t seq_len_max = 0;
    for (const MlaCommand& command : program_.commands) {
      for (const MlaRequest& request : command.requests)
        seq_len_max = std::max<int64_t>(seq_len_max, request.seq_len);
    }
    table_blocks_ = seq_len_max / kBlockSize + 1;
    // Slot 0 is of block 0, which no request has.
    table_.resize(static_cast<size_t>(program_.tokens * table_blocks_));
    std::iota(table_.begin(), table_.end(), 1);
    topk_.assign(static_cast<size_t>(program_.tokens * program_.k), 0);
    Failure failure;
    device_seq_lens_ = reserve(program_.tokens, failure);
    device_topk_ = reserve(std::ssize(topk_), failure);
    device_table_ = reserve(std::ssize(table_), failure);
    const auto sizes = kernels::metadata::plan_sizes(program_.tokens, program_.workers);
    for (const int64_t elements : {sizes.work_indptr, sizes.work_info, sizes.reduce_indptr,
                                   sizes.reduce_final_map, sizes.reduce_partial_map})
      graph_plan_.push_back(reserve(elements, failure));
    if (!failure) failure = checked(device_table_->upload(std::as_bytes(std::span(table_))));
    return failure;
  }

  Failure execute(const MlaCommand& command) {
    switch (command.action) {
      case MlaAction::kBuild:
        return build(command);
      case MlaAction::kRun: {
        if (auto failure = launch_layer(built_); failure) return failure;
        return judge(built_, true);
      }
      case MlaAction::kHeads:
        return std::nullopt;
      case MlaAction::kCapture:
        return capture();
      case MlaAction::kReplay:
        return replay();
    }
    return std::nullopt;
  }

  Failure build(const MlaCommand& command) {
    const Batch before = batch_;
    batch_ = batch_of(command);
    ++number_;
    if (auto failure = upload_step(); failure) return failure;
    kernels::metadata::MlaStep step{
        number_, batch_.query_lens, pointer(*device_seq_lens_), {}, state_.built_heads};
    const Ints bounds = bounds_of(batch_.seq_lens, command.value);
    if (command.host == HostKnows::kExact) step.host_lengths = {batch_.seq_lens, 0, number_};
    if (command.host == HostKnows::kBound) step.host_lengths = {bounds, command.value, number_};
    if (command.host == HostKnows::kStale) step.host_lengths = {before.seq_lens, 0, number_ - 1};
    const auto built = builder_->build(step);
    if (!built) return fail("device", built.error());
    built_ = *built;
    outcome_.plans_reused += built_.plan_reused;
    outcome_.keys += oracle::mla_kv_indptr(batch_.view(), program_.k).back();
    return judge(built_, false);
  }

  // The lengths of the step, and what top-k selected for its tokens: entries that they see, and a
  // few that are none.
  Failure upload_step() {
    Ints lens = batch_.seq_lens;
    lens.resize(static_cast<size_t>(program_.tokens), -1);
    if (auto failure = checked(device_seq_lens_->upload(std::as_bytes(std::span(lens)))); failure)
      return failure;
    const Ints visible = oracle::mla_lengths(batch_.view(), kMlaSeqLenMax);
    for (size_t i = 0; i < topk_.size(); ++i) {
      const size_t token = i / static_cast<size_t>(program_.k);
      const uint64_t bits = fixtures::hash_pair(static_cast<uint64_t>(number_), i);
      const int64_t sees = token < visible.size() ? visible[token] : 0;
      topk_[i] =
          sees == 0 || bits % 16 == 0
              ? -1
              : static_cast<int32_t>(fixtures::hash_below(bits, static_cast<uint64_t>(sees)));
    }
    return checked(device_topk_->upload(std::as_bytes(std::span(topk_))));
  }

  // A layer for the tokens of `metadata`, onto the stream.
  Failure launch_layer(const MlaMetadata& metadata) {
    exactk_translate d = {};
    d.struct_size = sizeof(d);
    d.variant = EXACTK_TRANSLATE_FLAT;
    d.slot_bytes = 4;
    d.indices = pointer(*device_topk_);
    d.token_to_req = metadata.req_id_per_token;
    d.block_table = pointer(*device_table_);
    d.cu_seqlens = metadata.kv_indptr;
    d.slots = metadata.kv_indices;
    d.tokens = metadata.tokens;
    d.k = d.index_stride_elems = d.out_stride_elems = program_.k;
    d.requests = program_.tokens;
    d.table_blocks = d.table_stride_elems = table_blocks_;
    d.block_size = kBlockSize;
    d.ratio = 1;
    d.slots_bound = -1;
    d.stream = stream();
    char message[256] = "";
    const exactk_kernel& kernel = layer_kernel(device_.info().kind);
    if (kernel.launch(&d, message, sizeof(message)) != EXACTK_OK) return fail("device", message);
    return std::nullopt;
  }

  PlanArrays graph_plan_arrays() const {
    return {pointer(*graph_plan_[0]), pointer(*graph_plan_[1]), pointer(*graph_plan_[2]),
            pointer(*graph_plan_[3]), pointer(*graph_plan_[4])};
  }

  // The graph has its own plan of the captured number of rows, beside the builder's.
  Failure capture() {
    if (auto failure = checked(device_.drop_graph()); failure) return failure;
    captured_ = built_;
    if (auto failure = checked(device_.begin_capture(stream())); failure) return failure;
    const auto planner = kernels::metadata::planner_of(variant_, device_.info().kind);
    const std::string problem =
        planner({captured_.tokens, program_.tokens, program_.workers, state_.captured_heads},
                captured_.kv_indptr, graph_plan_arrays(), stream());
    Failure failure = problem.empty() ? launch_layer(captured_) : fail("device", problem);
    if (auto ended = checked(device_.end_capture(stream())); ended && !failure) failure = ended;
    return failure;
  }

  Failure replay() {
    if (auto failure = checked(device_.replay(stream())); failure) return failure;
    if (auto failure = judge(captured_, true); failure) return failure;
    HeldPlan plan;
    if (auto failure = read_plan(graph_plan_arrays(), plan); failure) return failure;
    for (const auto& array : graph_plan_) {
      const auto guards = array->check_guards();
      if (!guards) return fail("device", guards.error());
      if (guards->bytes > 0)
        return fail("guard",
                    fmt::format("{} bytes beside the graph's plan were written", guards->bytes));
    }
    return judge_plan(plan, {state_.captured_tokens, state_.captured_heads}, "graph's work plan");
  }

  // --- what is there, and whether it is right ---

  static int32_t* pointer(const GuardedBuffer& buffer) {
    return reinterpret_cast<int32_t*>(buffer.data());
  }

  Failure read(const int32_t* from, int64_t elements, Ints& to) {
    to.resize(static_cast<size_t>(elements));
    if (to.empty()) return std::nullopt;
    return checked(device_.download(to.data(), from, elements * 4));
  }

  Failure read_buffers(const MlaMetadata& at, Held& held) {
    const int64_t most = program_.tokens;
    for (const auto& [from, elements, to] :
         {std::tuple{at.req_id_per_token, most, &held.req_id},
          std::tuple{at.qo_indptr, most + 1, &held.qo_indptr},
          std::tuple{at.last_page_len, most, &held.last_page},
          std::tuple{static_cast<const int32_t*>(at.kv_indices), most * program_.k, &held.indices},
          std::tuple{at.kv_indptr, most + 1, &held.indptr}}) {
      if (auto failure = read(from, elements, *to); failure) return failure;
    }
    return std::nullopt;
  }

  Failure read_plan(const PlanArrays& at, HeldPlan& plan) {
    const auto sizes = kernels::metadata::plan_sizes(program_.tokens, program_.workers);
    for (const auto& [from, elements, to] :
         {std::tuple{at.work_indptr, sizes.work_indptr, &plan.work_indptr},
          std::tuple{at.work_info, sizes.work_info, &plan.work_info},
          std::tuple{at.reduce_indptr, sizes.reduce_indptr, &plan.reduce_indptr},
          std::tuple{at.reduce_final_map, sizes.reduce_final_map, &plan.reduce_final_map},
          std::tuple{at.reduce_partial_map, sizes.reduce_partial_map, &plan.reduce_partial_map}}) {
      if (auto failure = read(from, elements, *to); failure) return failure;
    }
    return std::nullopt;
  }

  // Everything that a reader finds at these addresses after this command. `layer_ran`: the slots of
  // the step must be there.
  Failure judge(const MlaMetadata& at, bool layer_ran) {
    if (auto failure = checked(device_.synchronize(stream())); failure) return failure;
    Held held;
    if (auto failure = read_buffers(at, held); failure) return failure;
    const oracle::MlaSlots slots{
        topk_, {table_, program_.tokens, table_blocks_, table_blocks_, kBlockSize}};
    const auto want = oracle::expected_mla_metadata({program_.tokens, program_.k}, batch_.view(),
                                                    layer_ran ? &slots : nullptr);
    if (before_.req_id.empty()) before_ = held;
    const auto findings = oracle::judge_mla_metadata(want, held.view(), before_.view());
    before_ = held;
    if (!findings.empty()) return fail(findings[0].tensor, findings[0].why);
    HeldPlan plan;
    if (auto failure = read_plan(at.plan, plan); failure) return failure;
    if (auto failure = judge_plan(plan, {state_.built_tokens, state_.built_heads}, "work plan"))
      return failure;
    const auto damage = builder_->damage();
    if (!damage) return fail("device", damage.error());
    return damage->empty() ? std::nullopt : fail("guard", *damage);
  }

  // Rows behind the tokens of the step are empty.
  struct PlannedFor {
    int64_t rows, heads;
  };
  Failure judge_plan(const HeldPlan& plan, const PlannedFor& planned, const std::string& what) {
    Ints qo_indptr(static_cast<size_t>(planned.rows) + 1);
    std::iota(qo_indptr.begin(), qo_indptr.end(), 0);
    Ints kv_indptr = oracle::mla_kv_indptr(batch_.view(), program_.k);
    kv_indptr.resize(qo_indptr.size(), kv_indptr.back());
    const int64_t turns = (planned.heads + kHeadsAtOnce - 1) / kHeadsAtOnce;
    const oracle::WorkPlanInput input{qo_indptr,
                                      kv_indptr,
                                      kSplitUnit,
                                      1,
                                      std::max<int64_t>(program_.workers / turns, 1),
                                      std::max<int64_t>(std::ssize(plan.reduce_partial_map), 1)};
    const oracle::WorkPlanView view{plan.work_indptr, plan.work_info, plan.reduce_indptr,
                                    plan.reduce_final_map, plan.reduce_partial_map};
    const auto judged = oracle::judge_work_plan(input, view);
    if (!judged.invalid.empty()) return fail(what, judged.invalid);
    if (!judged.ok())
      return fail(what, fmt::format("{}: {} ({} faults)", name(judged.problems[0].kind),
                                    judged.problems[0].what, judged.problem_count));
    if (oracle::attend_by_plan(input, view, key_at) != oracle::attend_directly(input, key_at))
      throw InternalError(
          "a work plan keeps every rule, and a softmax by it is not the direct one");
    return std::nullopt;
  }

  kernels::Device& device_;
  const kernels::metadata::Variant& variant_;
  const MlaProgram& program_;
  MlaOutcome outcome_;
  MlaState state_;
  std::unique_ptr<kernels::metadata::MlaBuilder> builder_;
  std::unique_ptr<GuardedBuffer> device_seq_lens_, device_topk_, device_table_;
  std::vector<std::unique_ptr<GuardedBuffer>> graph_plan_;
  Ints topk_, table_;
  int64_t table_blocks_ = 0;
  int64_t number_ = 0;  // of the step
  Batch batch_;
  MlaMetadata built_, captured_;
  Held before_;
};

}  // namespace

MlaOutcome run_mla_program(kernels::Device& device, const kernels::metadata::Variant& variant,
                           const MlaProgram& program, const MlaOptions& options) {
  if (device.info().kind == "host") {
    const auto done = device.configure(
        {options.wave_width, options.schedule.value_or(program.schedule), options.workers});
    if (!done) return {MlaFailure{0, "device", done.error()}};
  }
  return Session(device, variant, program).run();
}

}  // namespace exactk::props
