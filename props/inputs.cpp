#include "props/inputs.h"

#include <fmt/format.h>

namespace exactk::props {

std::shared_ptr<const StepInputs> InputCache::get(const Operation& operation, int64_t step,
                                                  LogitsFrom from) {
  // How the case is launched does not change its data.
  fixtures::Case data = operation.value();
  const fixtures::Case defaults;
  data.launch = defaults.launch;
  data.poison = defaults.poison;
  data.workspace = defaults.workspace;
  data.out_stride = defaults.out_stride;
  data.repeats = defaults.repeats;
  data.schedule = defaults.schedule;
  const std::string key =
      fmt::format("{} {} {}", step, static_cast<int>(from), fixtures::print_case(data));
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (it->key != key) continue;
    entries_.splice(entries_.begin(), entries_, it);
    return entries_.front().inputs;
  }
  const std::shared_ptr<const StepInputs> made = operation.make_inputs(step, from);
  const int64_t bytes = made->kept_bytes();
  if (bytes > bytes_max_) return made;
  bytes_ += bytes;
  entries_.push_front({key, made, bytes});
  while (bytes_ > bytes_max_) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  return made;
}

}  // namespace exactk::props
