/* The C interface between the suite and a kernel, its own and those from outside. C11; every struct
 * carries its size.
 *
 * Pointers are device pointers of the device kind that the kernel was registered for; counts and
 * strides are 64-bit and in elements. A launch neither allocates nor synchronises, so that it can
 * be captured into a graph.
 */
#ifndef EXACTK_ABI_H
#define EXACTK_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXACTK_ABI_VERSION 1u

/* Contract modes that a kernel promises; flags. docs/CONTRACTS.md says what each one means. */
#define EXACTK_MODE_SET (1u << 0)
#define EXACTK_MODE_PREFIX (1u << 1)
#define EXACTK_MODE_ORDERED (1u << 2)
#define EXACTK_MODE_STABLE (1u << 3)
#define EXACTK_MODE_REPEATABLE (1u << 4)
#define EXACTK_MODE_KERNELS_ONLY (1u << 5)

typedef enum exactk_status {
  EXACTK_OK = 0,
  EXACTK_DECLINED = 1, /* the kernel does not take this shape; the reason says why */
  EXACTK_ERROR = 2     /* the launch failed; the message says why */
} exactk_status;

/* Paths that a decode top-k launch can report. */
typedef enum exactk_topk_path {
  EXACTK_PATH_UNKNOWN = -1,
  EXACTK_PATH_BLOCK_INSERTION = 0,
  EXACTK_PATH_BLOCK_RADIX = 1,
  EXACTK_PATH_SPLIT = 2,
  EXACTK_PATH_K512 = 3,
  EXACTK_PATH_K1024 = 4
} exactk_topk_path;

/* Injected numbers; 0 keeps the published value. */
typedef struct exactk_topk_tuning {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t radix_width;
  int64_t split_width;
  int64_t split_blocks;
  int64_t policy_shift;
  int64_t min_chunk;
  int64_t final_items;
  int64_t insertion_items;
  int64_t block_threads;
} exactk_topk_tuning;

/* What a launch took; filled by the host side of the launch, `active_blocks` by the device. */
typedef struct exactk_topk_report {
  uint32_t struct_size;
  int32_t path;       /* exactk_topk_path */
  int32_t max_blocks; /* blocks per row of the grid */
  int32_t reserved;
  int32_t*
      active_blocks; /* device, [rows], or NULL; the kernel writes the active blocks of each row */
} exactk_topk_report;

/* Decode top-k: per row the k columns with the largest logits. */
typedef struct exactk_topk_decode {
  uint32_t struct_size;
  int32_t seq_lens_dim; /* 1: [ceil(rows / next_n)], row length = seq_len - next_n + draft + 1; 2:
                           [rows] */
  const float* logits;  /* [rows, width] */
  const int32_t*
      seq_lens; /* read on the device at every launch and replay; may be negative: clamp at 0 */
  int32_t*
      indices; /* out, [rows, k]: column numbers, -1 in unused slots; gaps between rows untouched */
  int64_t rows;                /* >= 1 */
  int64_t next_n;              /* rows per request, >= 1 */
  int64_t width;               /* columns allocated; no row length exceeds it */
  int64_t k;                   /* >= 1, may exceed width */
  int64_t row_stride_elems;    /* of logits */
  int64_t column_stride_elems; /* of logits */
  int64_t out_stride_elems;    /* of indices, >= k */
  void* workspace;             /* 256-byte aligned, any contents; NULL if workspace_bytes is 0 */
  int64_t workspace_bytes;     /* at least what workspace_bytes() asked for */
  void* stream;                /* hipStream_t, cudaStream_t, or the host device's stream */
  const char* arch;            /* policy architecture, e.g. "gfx950" */
  int64_t max_seq_len_hint;    /* host-known largest row length at this call; frozen by a capture */
  const exactk_topk_tuning* tuning; /* NULL: published numbers */
  exactk_topk_report* report;       /* NULL: not wanted */
} exactk_topk_decode;

/* One kernel. `message` gets one sentence on anything but EXACTK_OK. */
typedef struct exactk_kernel {
  uint32_t struct_size;
  uint32_t modes;          /* EXACTK_MODE_* that it promises */
  const char* name;        /* <op>.<method>, e.g. "topk.block" */
  const char* op;          /* "topk.decode" */
  const char* description; /* one sentence */
  exactk_status (*supports)(const exactk_topk_decode* d, char* message, size_t message_bytes);
  int64_t (*workspace_bytes)(const exactk_topk_decode* d);
  exactk_status (*launch)(const exactk_topk_decode* d, char* message, size_t message_bytes);
} exactk_kernel;

#ifdef __cplusplus
}
#endif

#endif
