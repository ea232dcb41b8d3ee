/* The C interface between the suite and a kernel, its own and those from outside. C11; every struct
 * carries its size.
 *
 * Pointers are device pointers of the device kind that the kernel was registered for; counts and
 * strides are 64-bit and in elements. A launch neither allocates nor synchronises, so that it can
 * be captured into a graph.
 *
 * A shared library with kernels, a plugin, exports one function, exactk_plugin_v1, which is
 * declared at the end. docs/PLUGIN.md walks through writing one.
 */
#ifndef EXACTK_ABI_H
#define EXACTK_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXACTK_ABI_VERSION 1u

/* Contract modes that a kernel promises; flags. docs/CONTRACTS.md says what each one means. A top-k
 * is always judged by SET, ORDERED and STABLE include PREFIX, and exclude each other. Index
 * operations fix every element, so only REPEATABLE and KERNELS_ONLY say something about them. */
#define EXACTK_MODE_SET (1u << 0)
#define EXACTK_MODE_PREFIX (1u << 1)
#define EXACTK_MODE_ORDERED (1u << 2)
#define EXACTK_MODE_STABLE (1u << 3)
#define EXACTK_MODE_REPEATABLE (1u << 4)
#define EXACTK_MODE_KERNELS_ONLY (1u << 5)
/* topk.prefill: indices are columns of the buffer; without it they are relative to the row start.
 */
#define EXACTK_MODE_ABSOLUTE (1u << 6)

typedef enum exactk_status {
  EXACTK_OK = 0,
  EXACTK_DECLINED = 1, /* the kernel does not take this shape; the reason says why */
  EXACTK_ERROR = 2     /* the launch failed; the message says why */
} exactk_status;

/* Paths that a top-k launch can report. */
typedef enum exactk_topk_path {
  EXACTK_PATH_UNKNOWN = -1,
  EXACTK_PATH_BLOCK_INSERTION = 0,
  EXACTK_PATH_BLOCK_RADIX = 1,
  EXACTK_PATH_SPLIT = 2,
  EXACTK_PATH_K512 = 3,
  EXACTK_PATH_K1024 = 4,
  EXACTK_PATH_FULL_RADIX = 5, /* one block per row, every radix pass: the AITER convention */
  EXACTK_PATH_PREFILL = 6     /* one block per row; rows from 12288 on by a second launch */
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
  int64_t radix_rows; /* prefill: rows from this one on are a second launch */
} exactk_topk_tuning;

/* What a launch took; filled by the host side of the launch, `active_blocks` by the device. */
typedef struct exactk_topk_report {
  uint32_t struct_size;
  int32_t path;       /* exactk_topk_path */
  int32_t max_blocks; /* blocks per row of the grid */
  int32_t launches;   /* kernels that the call put onto the stream */
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
  int64_t compress_ratio;      /* raw tokens per column, >= 1; only the path gate looks at it */
  int32_t full_graph; /* 1: the path gate takes max_model_len = width * compress_ratio for the
                         longest row, as a full graph does; 0: max_seq_len_hint */
  int32_t reserved;
  const exactk_topk_tuning* tuning; /* NULL: published numbers */
  exactk_topk_report* report;       /* NULL: not wanted */
} exactk_topk_decode;

/* Prefill top-k: per row the k columns of [row_start, row_end) with the largest logits. */
typedef struct exactk_topk_prefill {
  uint32_t struct_size;
  uint32_t reserved;
  const float* logits;       /* [rows, width] */
  const int32_t* row_starts; /* [rows], first visible column; read on the device at every launch */
  const int32_t* row_ends;   /* [rows], one past the last; below the start: an empty row */
  int32_t* indices;          /* out, [rows, k]: column - row_start, or columns where the kernel
                                declares EXACTK_MODE_ABSOLUTE; -1 in unused slots */
  int64_t rows;              /* >= 1 */
  int64_t width;             /* columns allocated; no row end exceeds it */
  int64_t k;                 /* >= 1, may exceed width */
  int64_t row_stride_elems;  /* of logits */
  int64_t column_stride_elems; /* of logits */
  int64_t out_stride_elems;    /* of indices, >= k */
  void* workspace;
  int64_t workspace_bytes;
  void* stream;
  const char* arch;
  const exactk_topk_tuning* tuning;
  exactk_topk_report* report;
} exactk_topk_prefill;

/* Which of the published forms of the index combine; docs/CONTRACTS.md has the formulas. */
typedef enum exactk_combine_variant {
  EXACTK_COMBINE_COMMON = 0,   /* top-k indices are taken as they are */
  EXACTK_COMBINE_GATHERED = 1, /* the window starts no earlier than the gathered region */
  EXACTK_COMBINE_CHECKED = 2,  /* top-k indices outside [0, compressed_rows) become -1 */
  EXACTK_COMBINE_VISION = 3,   /* checked and gathered, windows widened by what image tokens see */
  EXACTK_COMBINE_RAGGED = 4    /* the values of common in a flat list with indptr */
} exactk_combine_variant;

/* Index combine of a prefill chunk: per token the compressed (top-k) part, then the sliding window.
 */
typedef struct exactk_combine {
  uint32_t struct_size;
  int32_t variant;                /* exactk_combine_variant */
  const int32_t* topk_indices;    /* [tokens, topk_width], local to the request */
  const int32_t* query_start_loc; /* [requests + 1], prefix sums; element 0 is subtracted */
  const int32_t* seq_lens;        /* [requests], total length including this chunk */
  const int32_t* gather_lens;     /* [requests], trailing positions in the window region */
  const int32_t* left_visible;    /* [tokens]; vision only, else NULL */
  const int32_t* right_visible;   /* [tokens]; vision only, else NULL */
  int32_t* indices; /* out, [tokens, columns]; ragged: flat, [tokens * (k + window)] */
  int32_t* lens;    /* out, [tokens]; ragged: NULL */
  int32_t* indptr;  /* out, [tokens + 1]; ragged only, else NULL */
  int64_t tokens;   /* rows of the tensors; those past the last request's stay untouched */
  int64_t requests; /* >= 1 */
  int64_t k;        /* >= 0, 0 for layers with a window only; at most topk_width */
  int64_t topk_width;
  int64_t topk_stride_elems;
  int64_t window;           /* >= 1, any number */
  int64_t ratio;            /* raw tokens per compressed entry; 0: no compressed part */
  int64_t workspace_rows;   /* rows per request in the gathered workspace */
  int64_t compressed_rows;  /* of them, the compressed region: offset of the window region */
  int64_t columns;          /* slots per row */
  int64_t out_stride_elems; /* of indices, >= columns; gaps stay untouched */
  int64_t max_image_tokens; /* vision only, else 0 */
  void* workspace;
  int64_t workspace_bytes;
  void* stream;
} exactk_combine;

/* Which of the published forms of the index translation; docs/CONTRACTS.md has the formulas. */
typedef enum exactk_translate_variant {
  EXACTK_TRANSLATE_POSITIONAL = 0, /* a slot per index, -1 where the index is invalid */
  EXACTK_TRANSLATE_COMPACT = 1,    /* valid slots first, then -1 */
  EXACTK_TRANSLATE_RAGGED = 2,     /* the first lens[t] positions of each row in a flat list */
  EXACTK_TRANSLATE_PACK = 3,  /* no table: the first lengths[t] indices of each row, verbatim */
  EXACTK_TRANSLATE_FLAT = 4,  /* rows placed by given cu_seqlens; 0 where the index is invalid */
  EXACTK_TRANSLATE_CAPPED = 5 /* fixed-width rows of the first min((pos + 1) / ratio, cap) slots */
} exactk_translate_variant;

/* Local indices to slots of the cache: block_table[request][i / block_size] * block_size + i %
 * block_size. What a variant does not read or write is NULL. */
typedef struct exactk_translate {
  uint32_t struct_size;
  int32_t variant;    /* exactk_translate_variant */
  int32_t slot_bytes; /* 4 or 8: type of the slots, int32 or int64 */
  int32_t reserved;
  const int32_t* indices;      /* [tokens, k], local; not for capped */
  const int32_t* token_to_req; /* [tokens]; not for pack */
  const uint8_t* token_valid;  /* [tokens], 0 or 1; positional, compact, ragged, capped */
  const int32_t* block_table;  /* [requests, table_blocks]; not for pack */
  const int32_t* lengths;      /* [tokens]; pack only */
  const int32_t* cu_seqlens;   /* [tokens + 1]; flat only */
  const int32_t* positions;    /* [tokens]; capped only */
  const int32_t* cap;          /* [1], 0 to k; capped only */
  void* slots;                 /* out, [tokens, k]; ragged, pack, flat: [tokens * k] */
  int32_t* lens;               /* out, [tokens]; positional, compact, capped */
  int32_t* indptr;             /* out, [tokens + 1]; ragged, pack */
  int64_t tokens;              /* >= 1 */
  int64_t k;                   /* slots per row, >= 1 */
  int64_t requests;            /* rows of the block table; not for pack */
  int64_t table_blocks;        /* columns of the block table, its logical width */
  int64_t table_stride_elems;  /* >= table_blocks */
  int64_t index_stride_elems;  /* of indices, >= k */
  int64_t out_stride_elems;    /* of slots where they are a matrix, >= k; gaps stay untouched */
  int64_t block_size;          /* >= 1 */
  int64_t ratio;               /* >= 1; capped only */
  int64_t slots_bound;         /* pack: indices outside [0, slots_bound) become -1; -1: no bound */
  void* workspace;
  int64_t workspace_bytes;
  void* stream;
} exactk_translate;

/* Decode sliding-window slots and lengths. */
typedef struct exactk_swa {
  uint32_t struct_size;
  int32_t slot_bytes;           /* 4 or 8 */
  const int32_t* positions;     /* [tokens] */
  const int32_t* token_to_req;  /* [tokens] */
  const uint8_t* token_valid;   /* [tokens], 0 or 1 */
  const int32_t* left_visible;  /* [tokens], or NULL: 0 for all */
  const int32_t* right_visible; /* [tokens], or NULL with left_visible */
  const int32_t* block_table;   /* [requests, table_blocks] */
  void* slots;                  /* out, [tokens, columns] */
  int32_t* lens;                /* out, [tokens] */
  int64_t tokens;
  int64_t requests;
  int64_t window;           /* >= 1 */
  int64_t columns;          /* slots per row; lens is not limited to it */
  int64_t out_stride_elems; /* >= columns; gaps stay untouched */
  int64_t block_size;
  int64_t table_blocks;
  int64_t table_stride_elems;
  void* workspace;
  int64_t workspace_bytes;
  void* stream;
} exactk_swa;

/* The chain of a step: top-k, then the mapping of its indices, on one stream. One of `decode` and
 * `prefill` is set, and one of `translate` and `combine`; the indices of the first are what the
 * second reads. Both run on the stream of the top-k, in its workspace: workspace_bytes() of the
 * chain is what both members need, each rounded up to 256, and the first part is the top-k's.
 * Stream and workspace of the second are not read; the report of the top-k counts its own kernels.
 */
typedef struct exactk_chain {
  uint32_t struct_size;
  uint32_t reserved;
  exactk_topk_decode* decode;
  exactk_topk_prefill* prefill;
  exactk_translate* translate;
  exactk_combine* combine;
} exactk_chain;

/* The flavour of 8-bit numbers e4m3: OCP's, or FNUZ, where a byte is half as much and 0x80 is the
 * NaN. */
typedef enum exactk_fp8 { EXACTK_FP8_FN = 0, EXACTK_FP8_FNUZ = 1 } exactk_fp8;

/* What a column outside its row holds after a launch. */
typedef enum exactk_outside {
  EXACTK_OUTSIDE_ANY = 0,      /* anything, finite numbers too; rows of length 0 stay untouched */
  EXACTK_OUTSIDE_CLEAN = 1,    /* -infinity, in every row */
  EXACTK_OUTSIDE_UNTOUCHED = 2 /* what it held before: only columns of the row are stored */
} exactk_outside;

/* Indexer logits over keys in one matrix: scale[n] * sum over heads of weight[h] * relu(q[h] .
 * k[n]) for the keys n in [start, end) of each row. */
typedef struct exactk_mqa_logits {
  uint32_t struct_size;
  int32_t fp8;            /* exactk_fp8, of queries and keys */
  int32_t outside;        /* exactk_outside */
  int32_t compressed;     /* 1: key n of a row is column n - start; 0: column n */
  const uint8_t* queries; /* [rows, heads, dim], fp8 */
  const float* weights;   /* [rows, heads] */
  const uint8_t* keys;    /* [keys, dim], fp8; keys that no row sees may hold NaN */
  const float* scales;    /* [keys] */
  const int32_t*
      starts;          /* [rows]; read on the device at every launch, as unsigned: cut at key_count
                        */
  const int32_t* ends; /* [rows], likewise; at or below the start: an empty row */
  float* logits;       /* out, [rows, width]; gaps between rows untouched */
  int64_t rows;        /* >= 1 */
  int64_t key_count;   /* >= 1 */
  int64_t width;       /* columns, >= 1; what is beyond them is not stored */
  int64_t heads;       /* >= 1 */
  int64_t dim;         /* >= 1 */
  int64_t query_stride_bytes;  /* between rows */
  int64_t head_stride_bytes;   /* of queries, >= dim */
  int64_t weight_stride_elems; /* >= heads */
  int64_t key_stride_bytes;    /* >= dim */
  int64_t out_stride_elems;    /* of logits, >= width */
  void* workspace;
  int64_t workspace_bytes;
  void* stream;
} exactk_mqa_logits;

/* The same over keys in pages: column n of row r is key n of request r / next_n, at place
 * n % block_size of the block block_table[request][n / block_size]. A block is block_size * dim
 * bytes of keys, then block_size float scales. A column whose block is past the table's width, or
 * none of `blocks`, is outside the row. */
typedef struct exactk_mqa_logits_paged {
  uint32_t struct_size;
  int32_t fp8;
  int32_t outside;
  int32_t seq_lens_dim;       /* as in exactk_topk_decode */
  const uint8_t* queries;     /* [rows, heads, dim], fp8 */
  const float* weights;       /* [rows, heads] */
  const uint8_t* cache;       /* [blocks]; 4-byte aligned */
  const int32_t* block_table; /* [ceil(rows / next_n), table_blocks]; what no row needs may be any
                                 number */
  const int32_t* seq_lens;    /* read on the device at every launch and replay; may be negative */
  float* logits;              /* out, [rows, width]; gaps between rows untouched */
  int64_t rows;               /* >= 1 */
  int64_t next_n;             /* rows per request, >= 1 */
  int64_t width;              /* columns, the longest context; no row length exceeds it */
  int64_t heads;
  int64_t dim;
  int64_t blocks;              /* of the cache */
  int64_t block_size;          /* keys per block; block_size * dim is a multiple of 4 */
  int64_t block_stride_bytes;  /* >= block_size * (dim + 4), a multiple of 4 */
  int64_t table_blocks;        /* columns of the block table, its logical width */
  int64_t table_stride_elems;  /* >= table_blocks */
  int64_t query_stride_bytes;  /* between rows */
  int64_t head_stride_bytes;   /* of queries, >= dim */
  int64_t weight_stride_elems; /* >= heads */
  int64_t out_stride_elems;    /* of logits, >= width */
  int64_t max_seq_len_hint;    /* host-known largest row length at this call; frozen by a capture */
  void* workspace;
  int64_t workspace_bytes;
  void* stream;
} exactk_mqa_logits_paged;

/* Which slots of an index list count. */
typedef enum exactk_attention_variant {
  EXACTK_ATTENTION_DENSE = 0, /* rows of k slots, the first lens[.] of them count */
  EXACTK_ATTENTION_FULL = 1,  /* rows of k slots, all count; no lens */
  EXACTK_ATTENTION_RAGGED = 2 /* a flat list: row t has [indptr[t], indptr[t + 1]) */
} exactk_attention_variant;

/* How the launch rounds: the judge's bounds follow from it, docs/CONTRACTS.md says how. Filled by
 * the host side of the launch. It comes zeroed; 0 stands for the error that the contract takes
 * for granted. Counts beyond those of the worst order count as it; units and errors that no
 * arithmetic of this kind has fail the launch. */
typedef struct exactk_attention_report {
  uint32_t struct_size;
  uint32_t unanswered;     /* flags, EXACTK_UNANSWERED_*: what the kernel never writes */
  double unit;             /* of a sum; 0: 2^-24. 2^-23 where a matrix unit truncates */
  double function_error;   /* of exp and log, relative (log: absolute below 1); 0: 2^-21 */
  double probability_unit; /* rounding of a weight before it meets values; 0: 2^-8, bf16;
                              negative: none */
  int64_t dot_roundings;   /* that a product of a score passes; 0: dim */
  int64_t sum_roundings;   /* that a term of a sum over entries passes; 0: the entries */
  int64_t rescalings;      /* changes of the running maximum, at most; 0: the entries */
} exactk_attention_report;

#define EXACTK_UNANSWERED_LSE (1u << 0)
#define EXACTK_UNANSWERED_MAX (1u << 1)

/* Sparse MLA attention of a prefill: per token and head one softmax over the keys that the token's
 * entries name. An entry counts if 0 <= index < key_count; one that occurs twice counts twice.
 * Keys that no entry names must not be read: they may hold NaN. */
typedef struct exactk_sparse_prefill {
  uint32_t struct_size;
  int32_t variant;        /* exactk_attention_variant */
  const uint16_t* query;  /* bf16, [tokens, heads, dim], contiguous */
  const uint16_t* keys;   /* bf16, [key_count, dim], contiguous; the first dim_v columns are the
                             values */
  const int32_t* indices; /* [tokens, k]; ragged: flat, at most tokens * k; any value may occur */
  const int32_t* lens;    /* dense: [tokens], clamped to [0, k]; read on the device; else NULL */
  const int32_t* indptr;  /* ragged: [tokens + 1], ascending; read on the device; else NULL */
  const float* sink;      /* [heads], natural logarithm; NULL: none */
  uint16_t* out;          /* out, bf16, [tokens, heads, dim_v]; gaps between tokens untouched */
  float* lse;             /* out, [tokens, heads], natural, without the sink; NULL: not wanted */
  float* max_score;       /* out, [tokens, heads], the largest scaled score; NULL: not wanted */
  int64_t tokens;         /* >= 1 */
  int64_t heads;          /* >= 1 */
  int64_t dim;            /* of query and key, >= 1 */
  int64_t dim_v;          /* 1 to dim */
  int64_t key_count;      /* >= 1 */
  int64_t k;              /* slots per row, >= 1; ragged: the most of a row */
  int64_t max_len_hint;   /* host-known most entries of a row at this call; frozen by a capture */
  int64_t index_stride_elems; /* dense, full: of indices, >= k */
  int64_t out_stride_elems;   /* between tokens of out, >= heads * dim_v */
  double scale;               /* of a score; taken as float */
  void* workspace;
  int64_t workspace_bytes;
  void* stream;
  exactk_attention_report* report; /* NULL: not wanted */
} exactk_sparse_prefill;

/* How a cache holds a key of `dim` columns, the last `rope` of them bf16. docs/CONTRACTS.md has the
 * layouts; with nope = dim - rope: */
typedef enum exactk_kv_format {
  EXACTK_KV_BF16 = 0, /* dim bf16 per slot; rope says nothing */
  EXACTK_KV_V32 = 1,  /* per slot nope fp8, ceil(nope / 128) float scales, rope bf16; nope is a
                         multiple of 4, rope of 2 */
  EXACTK_KV_V4 = 2    /* per slot nope fp8, rope bf16; behind all slots of the block, per slot
                         ceil(nope / 64) UE8M0 scales, filled up to a multiple of 8 bytes; nope is
                         even */
} exactk_kv_format;

/* A paged cache and, per row, the slots of it that count. Slot s is at offset s % block_size of
 * block s / block_size; an entry counts if 0 <= s < blocks * block_size. */
typedef struct exactk_kv_list {
  const void* cache;      /* [blocks], 16-byte aligned */
  const int32_t* indices; /* [tokens, k]; ragged: flat, at most tokens * k; any value may occur */
  const int32_t* lens;    /* dense: [requests], clamped to [0, k]; read on the device; else NULL */
  const int32_t* indptr;  /* ragged: [tokens + 1], ascending; read on the device; else NULL */
  int64_t blocks;
  int64_t block_size;
  int64_t block_stride_bytes; /* a multiple of 4, at least what the format needs */
  int64_t k;                  /* slots per row; ragged: the most of a row; 0: no such list */
  int64_t max_len_hint; /* host-known most entries of a row at this call; frozen by a capture */
  int64_t index_stride_elems; /* dense, full: of indices, >= k */
  int32_t fp8;                /* exactk_fp8; not for bf16 */
  int32_t reserved;
} exactk_kv_list;

/* Sparse MLA attention of a decode step: as the prefill, over the entries of both lists in one
 * softmax. A key of fp8 is the float product of number and scale, rounded to bf16. Token t is query
 * row t % next_n of request t / next_n. */
typedef struct exactk_sparse_decode {
  uint32_t struct_size;
  int32_t variant; /* exactk_attention_variant, of both lists */
  int32_t format;  /* exactk_kv_format, of both caches */
  int32_t reserved;
  const uint16_t* query; /* bf16, [tokens, heads, dim], contiguous */
  exactk_kv_list main;   /* k >= 1 */
  exactk_kv_list extra;  /* k 0: none */
  const float* sink;     /* [heads], natural logarithm; NULL: none */
  uint16_t* out;         /* out, bf16, [tokens, heads, dim_v]; gaps between tokens untouched */
  float* lse;            /* out, [ceil(tokens / next_n), heads, next_n], natural, without the sink;
                            places of no token untouched; NULL: not wanted */
  float* max_score;      /* out, as lse, the largest scaled score; NULL: not wanted */
  int64_t tokens;        /* >= 1 */
  int64_t next_n;        /* query rows per request, >= 1 */
  int64_t heads;         /* >= 1 */
  int64_t dim;           /* of query and key, >= 1 */
  int64_t dim_v;         /* 1 to dim */
  int64_t rope;          /* 0 to dim */
  int64_t out_stride_elems; /* between tokens of out, >= heads * dim_v */
  double scale;             /* of a score; taken as float */
  void* workspace;
  int64_t workspace_bytes;
  void* stream;
  exactk_attention_report* report; /* NULL: not wanted */
} exactk_sparse_decode;

/* The sparse part of a decode step on one stream: indexer logits into a workspace with any
 * contents, their top-k, its indices as slots of the cache, attention over these slots. Each stage
 * reads what the one before wrote: topk->logits is logits->logits, translate->indices is
 * topk->indices, attention->main.indices is translate->slots and, ragged, its indptr
 * translate->indptr. All run on the stream of the logits, in their workspace: workspace_bytes() of
 * the step is what the stages need, each rounded up to 256, in this order. Stream and workspace of
 * the others are not read; the report of the top-k counts its own kernels. */
typedef struct exactk_decode_step {
  uint32_t struct_size;
  uint32_t reserved;
  exactk_mqa_logits_paged* logits;
  exactk_topk_decode* topk;
  exactk_translate* translate; /* positional or compact with attention full, ragged with ragged */
  exactk_sparse_decode* attention;
} exactk_decode_step;

/* How a router turns logits into scores. */
typedef enum exactk_router_scoring {
  EXACTK_ROUTER_SIGMOID = 0,
  EXACTK_ROUTER_SOFTMAX = 1
} exactk_router_scoring;

/* MoE router: per token the k experts with the largest score + bias within the topk_groups best
 * groups, and their weights; docs/CONTRACTS.md has the formulas. */
typedef struct exactk_router {
  uint32_t struct_size;
  int32_t scoring;     /* exactk_router_scoring */
  int32_t logit_bytes; /* of logits and bias; 4: float, 2: bf16, taken as it is and computed in
                          float */
  int32_t has_bias;    /* 0 or 1; groups are compared by their two best with it, one without */
  int32_t renormalize; /* 1: weights are divided by their sum over the chosen experts */
  float scaling;       /* of the weights, renormalised or not; finite */
  const void* logits;  /* [tokens, experts] */
  const void* bias;    /* [experts]; NULL without */
  int32_t* ids;        /* out, [tokens, k], in any order; gaps between rows stay untouched */
  float* weights;      /* out, [tokens, k], of the expert in the same slot, without its bias */
  int64_t tokens;      /* >= 1 */
  int64_t experts;     /* >= 1, a multiple of groups */
  int64_t groups;      /* >= 1; neighbours, experts / groups of them each */
  int64_t topk_groups; /* 1 to groups */
  int64_t k;           /* >= 1, at most what topk_groups groups have */
  int64_t logit_stride_elems; /* >= experts */
  int64_t out_stride_elems;   /* of ids and weights, >= k */
  void* workspace;
  int64_t workspace_bytes;
  void* stream;
} exactk_router;

/* What a kernel does with NaN among the logits in view. */
typedef enum exactk_nan_policy {
  EXACTK_NAN_ORDERED = 0,  /* takes them, ordered by their bits: +NaN best, -NaN worst */
  EXACTK_NAN_NOT_TAKEN = 1 /* cases with one in view are skipped */
} exactk_nan_policy;

/* The largest numbers that a kernel takes; 0: no limit. A case beyond one is skipped with the
 * reason, without a question to the kernel. All but `k` are of operations with logits. */
typedef struct exactk_limits {
  int64_t k;
  int64_t width;
  int64_t rows;
  int64_t next_n;        /* topk.decode, chain.decode */
  int64_t column_stride; /* elements; 1: rows must be contiguous */
} exactk_limits;

/* One kernel. `descriptor` is the struct of `op`:
 *   topk.decode exactk_topk_decode      index.combine exactk_combine      index.swa exactk_swa
 *   topk.prefill exactk_topk_prefill    index.translate exactk_translate  chain.* exactk_chain
 *   logits.mqa   exactk_mqa_logits      logits.mqa_paged exactk_mqa_logits_paged
 *   attention.sparse_prefill exactk_sparse_prefill
 *   attention.sparse_decode exactk_sparse_decode
 *   step.decode  exactk_decode_step
 *   router.grouped_topk exactk_router
 * `message` gets one sentence on anything but EXACTK_OK. supports() and workspace_bytes() are asked
 * before there are buffers: the pointers of the descriptor are NULL then. The descriptor is gone
 * after the call; what the stream needs later has to be copied. */
typedef struct exactk_kernel {
  uint32_t struct_size;
  uint32_t modes;          /* EXACTK_MODE_* that it promises */
  const char* name;        /* <op>.<method>, e.g. "topk.block" */
  const char* op;          /* "topk.decode" */
  const char* description; /* one sentence */
  exactk_status (*supports)(const void* descriptor, char* message, size_t message_bytes);
  int64_t (*workspace_bytes)(const void* descriptor);
  exactk_status (*launch)(const void* descriptor, char* message, size_t message_bytes);
  int32_t nan_policy; /* exactk_nan_policy */
  int32_t reserved;
  exactk_limits limits;
} exactk_kernel;

/* Puts `function` onto a stream of the host device, with a copy of its arguments: it runs when the
 * stream comes to it, and at every replay of a graph that it was captured into. There it counts as
 * a kernel. It may read and write device memory, and must not call the device. An error has its
 * sentence in `message`. */
typedef exactk_status (*exactk_enqueue)(void* stream, void (*function)(const void* arguments),
                                        const void* arguments, size_t argument_bytes, char* message,
                                        size_t message_bytes);

/* Who loads a plugin, and for which device. Lives as long as the process. */
typedef struct exactk_host {
  uint32_t struct_size;
  uint32_t abi_version;    /* EXACTK_ABI_VERSION of the suite */
  const char* device_kind; /* "host", "hip", "cuda" */
  int32_t device_index;
  int32_t wave_width;     /* 0 on the host device, where it changes from run to run */
  exactk_enqueue enqueue; /* host device only, else NULL */
} exactk_host;

/* What a plugin brings. Everything that it points to must live as long as the process. The struct
 * comes zeroed, the plugin fills it in. */
typedef struct exactk_plugin {
  uint32_t struct_size; /* sizeof(exactk_plugin) */
  uint32_t abi_version; /* EXACTK_ABI_VERSION that the plugin was built with */
  const char* name;     /* of the plugin */
  const char* version;  /* free text, for reports; may be NULL */
  const exactk_kernel* const* kernels;
  int64_t kernel_count;
  const char* message; /* one sentence where exactk_plugin_v1() does not return EXACTK_OK */
} exactk_plugin;

#define EXACTK_PLUGIN_EXPORT __attribute__((visibility("default")))

/* The function that a plugin exports. EXACTK_DECLINED: it has no kernels for this device. */
EXACTK_PLUGIN_EXPORT exactk_status exactk_plugin_v1(const exactk_host* host, exactk_plugin* plugin);

#ifdef __cplusplus
}
#endif

#endif
