// What the library of shipped kernels exports to the one that lists them all.
#pragma once

#define EXACTK_SHIPPED __attribute__((visibility("default")))
