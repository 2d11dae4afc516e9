#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "device/cpu/block_runner.h"

// Warp operations of a BlockRunner, and what it says when nothing can run.
//
// Threads that reach an operation form groups by place, operation and mask. A group whose lanes are all there is
// complete: the last lane works out every lane's result, so that a fast lane may start its next operation while a slow
// one has not read the last. Two groups may stand side by side in a warp (two halves with masks of their own).

namespace ktune::device::cpu {
namespace {

bool same_place(const ktune_cpu::Site& a, const ktune_cpu::Site& b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0) &&
         (a.name == b.name || std::strcmp(a.name, b.name) == 0);
}

std::string place(const ktune_cpu::Site& site) { return fmt::format("{}:{}", site.file, site.line); }

std::string triple(const ktune_cpu::Index3& index) { return fmt::format("({},{},{})", index.x, index.y, index.z); }

std::uint32_t reduced(ktune_cpu::WarpOp op, std::uint32_t a, std::uint32_t b) {
  const auto sa = static_cast<std::int32_t>(a);
  const auto sb = static_cast<std::int32_t>(b);
  switch (op) {
    case ktune_cpu::kReduceAdd:
      return a + b;
    case ktune_cpu::kReduceMinSigned:
      return static_cast<std::uint32_t>(std::min(sa, sb));
    case ktune_cpu::kReduceMaxSigned:
      return static_cast<std::uint32_t>(std::max(sa, sb));
    case ktune_cpu::kReduceMinUnsigned:
      return std::min(a, b);
    case ktune_cpu::kReduceMaxUnsigned:
      return std::max(a, b);
    case ktune_cpu::kReduceAnd:
      return a & b;
    case ktune_cpu::kReduceOr:
      return a | b;
    default:
      return a ^ b;
  }
}

}  // namespace

std::uint64_t BlockRunner::warp(const ktune_cpu::WarpCall& call) {
  auto& self = static_cast<Thread&>(*ktune_cpu_self);
  Warp& warp = self.owner->warps[self.index / 32];
  const unsigned bit = 1u << self.lane;
  if ((call.mask & bit) == 0) {
    std::string text = fmt::format("{}: {} calls {} with mask {:#010x}, which does not name its lane {}",
                                   place(call.site), describe(self), call.site.name, call.mask, self.lane);
    fault(std::move(text));
  }
  self.call = call;
  self.site = call.site;
  // Lanes that meet at __activemask have no mask in common: it is what they ask for.
  const unsigned mask = call.op == ktune_cpu::kActive ? 0 : call.mask;
  auto group = std::find_if(warp.groups.begin(), warp.groups.end(), [&](const Group& other) {
    return other.mask == mask && other.op == call.op && same_place(other.site, call.site);
  });
  if (group == warp.groups.end()) {
    warp.groups.push_back({call.site, call.op, mask, 0});
    group = warp.groups.end() - 1;
  }
  group->arrived |= bit;
  if (mask != 0 && group->arrived == (mask & warp.existing)) {
    complete(warp, self.owner->threads + (self.index - self.lane),
             static_cast<std::size_t>(group - warp.groups.begin()));
    return self.result;
  }
  self.state = State::kInWarp;
  wait();
  return self.result;
}

/// Works out the results of a group and lets its lanes go; the caller's own is in its `result`.
void BlockRunner::complete(Warp& warp, Thread* lanes, std::size_t index) {
  const Group group = warp.groups[index];
  warp.groups.erase(warp.groups.begin() + static_cast<std::ptrdiff_t>(index));
  for (unsigned rest = group.arrived; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    lanes[lane].result = combine(group, lanes, group.arrived, lane);
  }
  for (unsigned rest = group.arrived; rest != 0; rest &= rest - 1) {
    Thread& thread = lanes[std::countr_zero(rest)];
    if (thread.state == State::kInWarp) make_ready(thread);
  }
}

std::uint64_t BlockRunner::combine(const Group& group, const Thread* lanes, unsigned present, unsigned lane) {
  const ktune_cpu::WarpCall& call = lanes[lane].call;
  std::uint64_t set = 0;
  switch (group.op) {
    case ktune_cpu::kShuffle:
      if (((present >> call.source) & 1u) == 0) {
        const char* why =
            ((group.mask >> call.source) & 1u) == 0 ? "the mask does not name" : "the block does not have";
        std::string text =
            fmt::format("{}: lane {} reads lane {} in {}, which {} (mask {:#010x}; block {})", place(group.site), lane,
                        call.source, group.site.name, why, group.mask, triple(lanes[lane].block->block_idx));
        fault(std::move(text));
      }
      return lanes[call.source].call.value;
    case ktune_cpu::kActive:
      return present;
    case ktune_cpu::kVote:
    case ktune_cpu::kMatch:
      for (unsigned rest = present; rest != 0; rest &= rest - 1) {
        const auto other = static_cast<unsigned>(std::countr_zero(rest));
        const std::uint64_t value = lanes[other].call.value;
        if (group.op == ktune_cpu::kVote ? value != 0 : value == call.value) set |= 1ull << other;
      }
      return set | (static_cast<std::uint64_t>(present) << 32);
    default: {
      unsigned rest = present;
      auto sum = static_cast<std::uint32_t>(lanes[std::countr_zero(rest)].call.value);
      for (rest &= rest - 1; rest != 0; rest &= rest - 1) {
        sum = reduced(group.op, sum, static_cast<std::uint32_t>(lanes[std::countr_zero(rest)].call.value));
      }
      return sum;
    }
  }
}

/// No thread can run. Lanes at __activemask are all there is of them: let one group go. Else it is a fault.
void BlockRunner::on_stuck() {
  if (!release_active_mask()) fault(who_waits());
}

bool BlockRunner::release_active_mask() {
  for (Block& block : blocks_) {
    for (std::size_t w = 0; w < block.warps.size(); ++w) {
      Warp& warp = block.warps[w];
      for (std::size_t g = 0; g < warp.groups.size(); ++g) {
        if (warp.groups[g].op != ktune_cpu::kActive) continue;
        complete(warp, block.threads + 32 * w, g);
        return true;
      }
    }
  }
  return false;
}

std::string BlockRunner::describe(const Thread& thread) const {
  return fmt::format("thread {} of block {}", triple(thread.thread_idx), triple(thread.block->block_idx));
}

std::string BlockRunner::whereabouts() const {
  const auto* self = static_cast<const Thread*>(ktune_cpu_self);
  return self == nullptr ? "no thread" : describe(*self);
}

/// The report of a gang in which nothing can run: the place first, as a compiler says it, then who is where.
std::string BlockRunner::who_waits() const {
  struct Crowd {
    const Thread* first = nullptr;
    std::size_t count = 0;
  };
  std::map<std::string, Crowd> crowds;
  const Thread* at_barrier = nullptr;
  const Thread* in_warp = nullptr;
  std::size_t warp_places = 0;
  std::size_t returned = 0;
  for (const Thread& thread : threads_) {
    if (thread.state == State::kReturned) {
      ++returned;
      continue;
    }
    const bool barrier = thread.state == State::kAtBarrier;
    if (barrier && at_barrier == nullptr) at_barrier = &thread;
    if (!barrier && in_warp == nullptr) in_warp = &thread;
    const std::string mask = barrier ? "" : fmt::format(" with mask {:#010x}", thread.call.mask);
    Crowd& crowd = crowds[fmt::format("{}{} ({})", thread.site.name, mask, place(thread.site))];
    if (crowd.first == nullptr) {
      crowd.first = &thread;
      warp_places += barrier ? 0 : 1;
    }
    ++crowd.count;
  }
  std::string text;
  if (at_barrier != nullptr) {
    text = fmt::format("{}: barrier that not all threads reach", place(at_barrier->site));
  } else if (warp_places > 1) {
    text = fmt::format("{}: warp operations that do not meet", place(in_warp->site));
  } else {
    text = fmt::format("{}: {} in a divergent branch: lanes that its mask names do not reach it", place(in_warp->site),
                       in_warp->site.name);
  }
  std::vector<std::pair<std::string, Crowd>> sorted(crowds.begin(), crowds.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  const char* separator = ": ";
  for (const auto& [where, crowd] : sorted) {
    text += fmt::format("{}{} of {} threads wait at {}, the first is {}", separator, crowd.count, threads_.size(),
                        where, describe(*crowd.first));
    separator = "; ";
  }
  if (returned != 0) text += fmt::format("; {} have returned", returned);
  return text;
}

}  // namespace ktune::device::cpu
