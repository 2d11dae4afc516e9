#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "model/op_spec.h"
#include "model/record.h"
#include "sweep/selection.h"
#include "sweep/variant_choice.h"

// What `--base` and `--new` name: a git revision of a tree with kernels and specs, a folder with such a tree, a spec
// file, a variant, or a stored winner.

namespace ktune::gate {

/// An op to compare, as it is found in the working tree.
struct SpecItem {
  std::string op;              ///< its name; "" where only the file says it
  std::filesystem::path path;  ///< of its spec in the working tree, absolute; it need not exist there
};

/// One side of a gate.
struct GateSide {
  enum class Kind { kTree, kFile, kVariant, kWinner };
  Kind kind = Kind::kTree;
  std::string label;                          ///< as typed
  std::filesystem::path ops_root;             ///< ops_root() of the gate
  std::string commit;                         ///< of a git revision
  std::filesystem::path work_root;            ///< kTree: a spec below it in the working tree …
  std::filesystem::path root;                 ///< … is at the same place below this one
  std::filesystem::path file;                 ///< kFile
  sweep::VariantChoice variant;               ///< kVariant
  std::vector<model::ProblemRecord> winners;  ///< kWinner
  std::string database;                       ///< kWinner
  std::filesystem::path repository;           ///< of a git revision
  /// What root, or a winner by its hash, was unpacked into.
  mutable std::map<std::string, std::shared_ptr<const TemporaryFolder>> trees;

  /// The op as this side has it; nothing: it has none (the caller says so).
  std::optional<model::OpSpec> load(const SpecItem& item) const;
  /// kWinner: the op as the winner's sweep saw it, from the database.
  std::optional<model::OpSpec> load(const model::ProblemRecord& winner) const;
  /// A path of this side for people: relative to its root.
  std::string display(const std::string& path) const;
  /// A message of this side for people: paths below an unpacked revision read REVISION:path.
  std::string readable(std::string text) const;
};

/// "winner" or "winner:SESSION".
bool is_winner(const std::string& reference);

/// The specs of a tree's configs/ops, in order.
std::vector<std::filesystem::path> specs_in(const std::filesystem::path& root);

/// The tree whose ops are meant where none is named by its file: the nearest folder with configs/ops from here up to
/// the top of the repository. Where there is none, it is the repository's top if one of the references is a git
/// revision, which may still have had ops; else what comes with ktune. Throws Error(kUsage) for a revision of no
/// repository, unless --config names specs, whose repository is asked.
std::filesystem::path ops_root(const sweep::Selection& selection, const std::vector<std::string>& references);

/// Understands "." (the working tree), a folder with configs/ops, FILE.toml, NAME=V,… or "default" (a variant),
/// "winner" or "winner:SESSION", else a git revision, whose tree is unpacked below cache_dir() as a checkout would have
/// it. Throws Error(kUsage) for what is none of these and Error(kNoData) for a winner that no session named.
GateSide resolve_reference(const std::string& reference, const std::filesystem::path& ops_root,
                           const sweep::Selection& selection, const std::string& device, const std::string& database);

/// The ops that are selected; where none is, every op of configs/ops on either side.
std::vector<SpecItem> gate_items(const sweep::Selection& selection, const GateSide& base, const GateSide& candidate);

}  // namespace ktune::gate
