// Launchers of the kernels that the tests of the host device use. They are in a shared object of
// their own, as every kernel library is.
#pragma once

#include <cstdint>

#include "kernels/device/portable.h"

#define EXACTK_TEST_EXPORT __attribute__((visibility("default")))

// ThreadSanitizer puts its own handler before the host device's and does not survive being left by
// a jump.
#if defined(__SANITIZE_THREAD__)
#define EXACTK_NEEDS_SIGNALS() GTEST_SKIP() << "faults are not caught under ThreadSanitizer"
#else
#define EXACTK_NEEDS_SIGNALS() static_cast<void>(0)
#endif

namespace exactk::kernels::test {

struct Shape {
  dim3 grid;
  dim3 block;
  hipStream_t stream = nullptr;
};

// Wave operations: out[thread of the grid].
EXACTK_TEST_EXPORT void ballot(Shape shape, uint64_t* ballots, int* any_all);
EXACTK_TEST_EXPORT void shuffle(Shape shape, int source, int width, int* out);
EXACTK_TEST_EXPORT void shuffle_up(Shape shape, int delta, int width, int* out);
EXACTK_TEST_EXPORT void shuffle_down(Shape shape, int delta, int width, int* out);
EXACTK_TEST_EXPORT void shuffle_xor(Shape shape, int mask, int width, int* out);
EXACTK_TEST_EXPORT void shuffle_types(Shape shape, float* floats, uint64_t* wide);
EXACTK_TEST_EXPORT void many_ballots(Shape shape, int rounds, uint64_t* mismatches);
EXACTK_TEST_EXPORT void ballot_after_return(Shape shape, int first_gone, uint64_t* ballots);
EXACTK_TEST_EXPORT void intrinsics(Shape shape, unsigned value, uint64_t wide, int* out);

// Blocks.
EXACTK_TEST_EXPORT void coordinates(Shape shape, unsigned* out);
EXACTK_TEST_EXPORT void inclusive_scan(Shape shape, const int* in, int* out);
EXACTK_TEST_EXPORT void neighbour_rounds(Shape shape, int rounds, int* out);
EXACTK_TEST_EXPORT void barrier_votes(Shape shape, int threshold, int* count_and_or);
EXACTK_TEST_EXPORT void static_and_dynamic(Shape shape, size_t dynamic_bytes, int* out);
EXACTK_TEST_EXPORT void read_fresh_shared(Shape shape, uint32_t* out);
EXACTK_TEST_EXPORT void arrival_order(Shape shape, unsigned* next, int* order);
EXACTK_TEST_EXPORT void arrival_order_after_barrier(Shape shape, unsigned* next, int* order);
EXACTK_TEST_EXPORT void many_barriers(Shape shape, int rounds);

// Memory and atomics.
EXACTK_TEST_EXPORT void store(Shape shape, int* to, int value);
EXACTK_TEST_EXPORT void add_from(Shape shape, int* to, const int* from, int plus);
EXACTK_TEST_EXPORT void atomics_global(Shape shape, int* out, unsigned* uout, uint64_t* wide,
                                       float* fout);
EXACTK_TEST_EXPORT void atomics_shared(Shape shape, int* out);
EXACTK_TEST_EXPORT void wrapping(Shape shape, unsigned limit, unsigned* inc_dec);
EXACTK_TEST_EXPORT void last_block_sum(Shape shape, int* partial, unsigned* tickets, int* sum);
EXACTK_TEST_EXPORT void write_byte(Shape shape, unsigned char* at, unsigned char value);
EXACTK_TEST_EXPORT hipError_t allow_dynamic(int bytes);

// Faults.
EXACTK_TEST_EXPORT void barrier_of_some(Shape shape);
EXACTK_TEST_EXPORT void barrier_at_two_lines(Shape shape);
EXACTK_TEST_EXPORT void ballot_beside_barrier(Shape shape);
EXACTK_TEST_EXPORT void ballots_at_two_lines(Shape shape);
EXACTK_TEST_EXPORT void store_by_one_thread(Shape shape, int block, int thread, int* to);
EXACTK_TEST_EXPORT void divide(Shape shape, int by, int* out);
EXACTK_TEST_EXPORT void recurse(Shape shape, int depth, int* out);
EXACTK_TEST_EXPORT void spin(Shape shape, const int* until);
EXACTK_TEST_EXPORT void trap(Shape shape);
EXACTK_TEST_EXPORT void overrun_dynamic(Shape shape, size_t dynamic_bytes, size_t past);

}  // namespace exactk::kernels::test
