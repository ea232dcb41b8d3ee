// What a kernel answers when it is asked whether it takes a descriptor.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>

#include "tests/kernels/index/harness.h"

namespace exactk::kernels::test {

using Answer = std::pair<exactk_status, std::string>;

template <class Descriptor>
Answer ask(const std::string& name, const Descriptor& d) {
  char message[256] = "";
  const exactk_status status = kernel(name).supports(&d, message, sizeof(message));
  return {status, message};
}

// One change of a descriptor that is taken, and why it is not taken then.
template <class Descriptor>
struct Refused {
  void (*change)(Descriptor&);
  exactk_status status;
  const char* sentence;  // behind the kernel's name
};

template <class Descriptor, size_t kCount>
void expect_refused(const std::string& name, const Descriptor& taken,
                    const Refused<Descriptor> (&refusals)[kCount]) {
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask(name, taken));
  for (const Refused<Descriptor>& refused : refusals) {
    Descriptor d = taken;
    refused.change(d);
    EXPECT_EQ(Answer(refused.status, name + " " + refused.sentence), ask(name, d));
  }
}

}  // namespace exactk::kernels::test
