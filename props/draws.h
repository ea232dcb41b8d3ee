// The parts of the random cases, private to the generators. Each draws from RapidCheck's current
// source, so it is called inside a generator only.
#pragma once

#include <cstdint>

#include "fixtures/case.h"
#include "props/generators.h"

namespace exactk::props {

// Whole cases of an operation, normalized: topk.decode, topk.prefill and chain.decode; index
// operations and chain.prefill; attention; the router; logits; the decode step.
fixtures::Case draw_topk(fixtures::Op op, const DrawLimits& limits);
fixtures::Case draw_requests(fixtures::Op op, const DrawLimits& limits);
fixtures::Case draw_attention(fixtures::Op op, const DrawLimits& limits);
fixtures::Case draw_router(fixtures::Op op, const DrawLimits& limits);
fixtures::Case draw_step(fixtures::Op op, const DrawLimits& limits);
fixtures::Case draw_mqa(fixtures::Op op, const DrawLimits& limits);

// Members that several operations read.
uint64_t draw_seed();
void draw_launch(fixtures::Case& c, const DrawLimits& limits);  // mode, replays or session, ...
fixtures::Session draw_session();
void draw_table(fixtures::Case& c);   // block table, slots, invalid tokens
void draw_logits(fixtures::Case& c);  // pattern and layout of logits that others shape
void draw_tail(fixtures::Case& c);

}  // namespace exactk::props
