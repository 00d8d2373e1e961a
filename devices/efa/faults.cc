#include "faults.h"

#include <cstdlib>

#include "attributes.h"

namespace efa {
namespace {

uint64_t number(const KeyValues& values, std::string_view key) {
  auto at = values.find(key);
  return at == values.end() ? 0 : std::strtoull(at->second.c_str(), nullptr, 0);
}

bool same(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

void Faults::look(uint64_t now) {
  std::unique_lock lock(looking_, std::try_to_lock);
  if (!lock) return;
  looked_at_.store(now, std::memory_order_relaxed);
  struct stat found{};
  const bool there = stat(path_.c_str(), &found) == 0;
  if (there == seen_file_ && (!there || same(found, seen_))) return;
  seen_file_ = there;
  seen_ = found;
  apply();
}

void Faults::apply() {
  const KeyValues values = read_key_values(path_).value_or(KeyValues{});
  open = number(values, "open") != 0;
  queues = number(values, "queues") != 0;
  silent = number(values, "silent") != 0;
  error = static_cast<uint16_t>(number(values, "error"));
  rnr = static_cast<uint32_t>(number(values, "rnr"));
  delay_us = number(values, "delay_us");
  corrupt = static_cast<uint32_t>(number(values, "corrupt"));
  early_immediate = number(values, "early_immediate") != 0;
  overrun = number(values, "overrun") != 0;
  drop = static_cast<uint32_t>(number(values, "drop"));
}

}  // namespace efa
