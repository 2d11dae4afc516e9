#include "gate/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/git.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "spec/spec.h"
#include "store/store.h"
#include "sweep/source_bundle.h"
#include "sweep/winners.h"

namespace ktune::gate {

namespace fs = std::filesystem;

namespace {

bool holds_ops(const fs::path& folder) { return fs::is_directory(folder / "configs" / "ops"); }

/// The folder whose git history is asked: that of the specs that are named, else of the tree with the ops.
fs::path work_folder(const sweep::Selection& selection, const fs::path& ops_root) {
  if (selection.configs.empty()) return ops_root;
  const fs::path folder = fs::absolute(selection.configs.front()).parent_path();
  if (!fs::is_directory(folder))
    throw Error(
        ErrorKind::kUsage, fmt::format("--config {}: no such file", selection.configs.front()),
        "a pattern that matches nothing is passed on as it is; without --config every op of configs/ops is taken");
  return folder;
}

/// What a killed gate left is nobody's after a day.
void forget_old_trees(const fs::path& folder) {
  std::error_code ignored;
  const auto day_ago = fs::file_time_type::clock::now() - std::chrono::hours(24);
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (fs::last_write_time(entry.path(), ignored) < day_ago) fs::remove_all(entry.path(), ignored);
}

/// A folder below cache_dir(). Nothing is kept for the next gate: a tree that lost a file to a cleaner would pass for
/// one that never had it.
std::shared_ptr<const TemporaryFolder> make_tree(const std::string& name) {
  const fs::path folder = cache_dir() / "trees";
  std::error_code failed;
  fs::create_directories(folder, failed);
  forget_old_trees(folder);
  return std::make_shared<const TemporaryFolder>(folder, name, "set KTUNE_CACHE_DIR to a folder that can be written");
}

/// As a checkout has it: `git archive` would leave out what .gitattributes says, and rewrite files.
std::shared_ptr<const TemporaryFolder> unpack_revision(const fs::path& top, const std::string& commit) {
  auto tree = make_tree(commit.substr(0, 12));
  const std::string index = tree->path().string() + ".index";
  const std::vector<std::pair<std::string, std::string>> own_index{{"GIT_INDEX_FILE", index}};
  const bool unpacked = git(top, {"read-tree", commit}, own_index) &&
                        git(top, {"checkout-index", "-a", "--prefix=" + tree->path().string() + "/"}, own_index);
  std::error_code ignored;
  fs::remove(index, ignored);
  if (!unpacked)
    throw Error(ErrorKind::kEnvironment, fmt::format("commit {} of {} cannot be unpacked", commit, top.string()),
                "git is needed, and room in the cache folder ($KTUNE_CACHE_DIR)");
  return tree;
}

/// A path below a submodule is in no revision's own tree, which is not to say that it was not there.
void refuse_submodule(const GateSide& side, const fs::path& inside) {
  std::vector<std::string> command{"ls-tree", side.commit, "--"};
  fs::path folder;
  for (const fs::path& part : inside.parent_path()) command.push_back((folder /= part).string());
  const auto listed = git(side.repository, command);
  if (!listed || listed->find(" commit ") != std::string::npos)
    throw Error(ErrorKind::kUsage, fmt::format("{} lies in a submodule of {}", inside.string(), side.label),
                "name the folders of two checkouts, or gate in the submodule's own repository");
}

/// A kernel that a revision names by an absolute path, or by a link to one, is the same file in every revision.
void refuse_outside(const GateSide& side, const model::OpSpec& spec) {
  for (const std::string& file : {spec.spec_path, spec.source_path})
    if (!is_within(file, side.trees.at(side.commit)->path()))
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} of {} leads to {}, out of the revision: it would be the same in every one", spec.name,
                              side.label, fs::weakly_canonical(file).string()),
                  "name kernels by a path from their spec");
}

GateSide winner_side(const std::string& reference, const std::string& device, const std::string& database, bool named) {
  GateSide side;
  side.kind = GateSide::Kind::kWinner;
  side.label = reference;
  side.database = database;
  const std::int64_t session = sweep::parse_variant_choice(reference).session;
  store::Store store(database, store::Store::Mode::kRead);
  // What the roofline tuned are the machine's streams, not somebody's kernels: they are compared where they are named.
  side.winners = store.winner_records(device, session, session > 0 || named);
  if (side.winners.empty()) throw sweep::no_winner_named(database, device, session);
  return side;
}

bool is_file(const std::string& reference) { return reference.ends_with(".toml"); }

bool is_revision(const std::string& reference) {
  return !is_file(reference) && !sweep::read_variant_choice(reference) && !fs::is_directory(reference);
}

GateSide tree_side(const std::string& reference, const sweep::Selection& selection, const fs::path& ops_root) {
  GateSide side;
  side.label = reference;
  const fs::path folder = work_folder(selection, ops_root);
  const auto top = repository_of(folder);
  side.work_root = selection.configs.empty() || !top ? folder : *top;
  if (reference == ".") {
    side.root = side.work_root;
    return side;
  }
  if (fs::is_directory(reference)) {
    if (!holds_ops(reference))
      throw Error(ErrorKind::kUsage, fmt::format("{} has no configs/ops", reference),
                  "name a folder with kernels and configs, a git revision, a spec file, a variant or `winner`");
    side.root = fs::absolute(reference).lexically_normal();
    return side;
  }
  if (!top)
    throw Error(ErrorKind::kUsage, fmt::format("{}: {} is in no git repository", reference, folder.string()),
                "name a spec file, a folder with kernels and configs, a variant or `winner`, or run in a checkout that "
                "has configs/ops");
  const auto commit = git(*top, {"rev-parse", "--verify", "--quiet", "--end-of-options", reference + "^{commit}"});
  if (!commit)
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{} is no git revision of {}, spec file, folder, variant or `winner`", reference, top->string()),
        "a shallow clone may lack it: fetch more history");
  side.commit = *commit;
  side.repository = *top;
  const auto tree = side.trees[*commit] = unpack_revision(*top, *commit);
  side.root = (tree->path() / fs::weakly_canonical(side.work_root).lexically_relative(*top)).lexically_normal();
  return side;
}

void add_ops_of(const fs::path& root, const fs::path& work_root, std::set<std::string>& seen,
                std::vector<SpecItem>& items) {
  for (const fs::path& file : specs_in(root))
    if (seen.insert(file.stem().string()).second)
      items.push_back({file.stem().string(), work_root / "configs" / "ops" / file.filename()});
}

/// A spec file is one op: with others beside it the same comparison would stand there once for each.
void refuse_more_ops(const sweep::Selection& selection, const GateSide& base, const GateSide& candidate) {
  const std::size_t files =
      (base.kind == GateSide::Kind::kFile ? 1 : 0) + (candidate.kind == GateSide::Kind::kFile ? 1 : 0);
  const std::size_t named = selection.ops.size() + selection.configs.size();
  if (files == 0 || named + files <= 2) return;
  const GateSide& file = base.kind == GateSide::Kind::kFile ? base : candidate;
  throw Error(ErrorKind::kUsage, fmt::format("{} is one op", file.label),
              files == 2 ? "two spec files are compared as they are: leave out --op and --config"
                         : "give one --op or --config, what it is compared with on the other side");
}

}  // namespace

bool is_winner(const std::string& reference) {
  const auto choice = sweep::read_variant_choice(reference);
  return choice && choice->is_winner();
}

std::vector<fs::path> specs_in(const fs::path& root) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root / "configs" / "ops", ignored))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

fs::path ops_root(const sweep::Selection& selection, const std::vector<std::string>& references) {
  std::error_code ignored;
  const fs::path here = fs::weakly_canonical(fs::current_path(ignored));
  const auto top = repository_of(here);
  for (fs::path folder = here; top; folder = folder.parent_path()) {
    if (holds_ops(folder)) return folder;
    if (folder == *top) break;
  }
  if (!selection.configs.empty() || std::none_of(references.begin(), references.end(), is_revision))
    return resource_root();
  if (top) return *top;
  const std::string& revision = *std::find_if(references.begin(), references.end(), is_revision);
  throw Error(
      ErrorKind::kUsage, fmt::format("{}: {} is in no git repository", revision, here.string()),
      "run in a checkout that has configs/ops, or name a spec file, a folder with kernels and configs, a variant "
      "or `winner`");
}

std::optional<model::OpSpec> GateSide::load(const SpecItem& item) const {
  if (kind == Kind::kFile) return spec::load_op(file.string());
  fs::path path = item.path;
  if (kind == Kind::kTree && root != work_root) {
    const fs::path inside = fs::weakly_canonical(path).lexically_relative(fs::weakly_canonical(work_root));
    if (inside.empty() || *inside.begin() == "..")
      throw Error(ErrorKind::kUsage, fmt::format("{} is not below {}", path.string(), work_root.string()),
                  fmt::format("{} has no other version of it: name a spec file for that side", label));
    path = root / inside;
  }
  if (fs::exists(path)) {
    model::OpSpec spec = spec::load_op(path.string());
    if (!commit.empty()) refuse_outside(*this, spec);
    return spec;
  }
  if (!commit.empty()) refuse_submodule(*this, path.lexically_relative(trees.at(commit)->path()));
  return std::nullopt;
}

std::optional<model::OpSpec> GateSide::load(const model::ProblemRecord& winner) const {
  store::Store store(database, store::Store::Mode::kRead);
  const auto bundle = store.source(winner.spec_hash, winner.source_hash);
  if (!bundle) return std::nullopt;
  auto& tree = trees[winner.spec_hash + winner.source_hash];
  if (!tree) {
    tree = make_tree("winner-" + winner.spec_hash.substr(0, 12));
    sweep::unpack(*bundle, tree->path());
  }
  return spec::load_op((tree->path() / bundle->spec).string());
}

std::string GateSide::display(const std::string& path) const {
  const fs::path relative = fs::path(path).lexically_relative(kind == Kind::kTree ? root : fs::current_path());
  return relative.empty() || *relative.begin() == ".." ? path : relative.string();
}

std::string GateSide::readable(std::string text) const {
  if (kind != Kind::kTree || root == work_root) return text;
  const std::string folder = root.string() + "/";
  for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos; at += label.size() + 1)
    text.replace(at, folder.size(), label + ":");
  return text;
}

GateSide resolve_reference(const std::string& reference, const fs::path& ops_root, const sweep::Selection& selection,
                           const std::string& device, const std::string& database) {
  GateSide side;
  if (is_winner(reference)) {
    side = winner_side(reference, device, database, !selection.ops.empty() || !selection.configs.empty());
  } else if (is_file(reference)) {
    side.kind = GateSide::Kind::kFile;
    side.label = reference;
    side.file = fs::absolute(reference).lexically_normal();
    spec::load_op(reference);  // says what is wrong with it now
  } else if (const auto choice = sweep::read_variant_choice(reference)) {
    side = tree_side(".", selection, ops_root);
    side.kind = GateSide::Kind::kVariant;
    side.label = reference;
    side.variant = *choice;
  } else {
    side = tree_side(reference, selection, ops_root);
  }
  side.ops_root = ops_root;
  return side;
}

std::vector<SpecItem> gate_items(const sweep::Selection& selection, const GateSide& base, const GateSide& candidate) {
  refuse_more_ops(selection, base, candidate);
  std::vector<SpecItem> items;
  const fs::path ops = candidate.ops_root / "configs" / "ops";
  for (const std::string& op : selection.ops) items.push_back({op, ops / (op + ".toml")});
  for (const std::string& config : selection.configs) items.push_back({"", fs::absolute(config).lexically_normal()});
  if (!items.empty()) return items;
  for (const GateSide* side : {&candidate, &base})
    if (side->kind == GateSide::Kind::kFile) return {{"", side->file}};
  std::set<std::string> seen;
  for (const GateSide* side : {&base, &candidate}) {
    if (side->kind == GateSide::Kind::kTree) add_ops_of(side->root, side->work_root, seen, items);
    for (const model::ProblemRecord& winner : side->winners)
      if (seen.insert(winner.op).second) items.push_back({winner.op, ops / (winner.op + ".toml")});
  }
  if (items.empty())
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{} has no configs/ops in {} or {}", candidate.ops_root.string(), base.label, candidate.label),
        "run in the folder that has configs/ops, give --config FILE.toml, or name two trees or spec files");
  return items;
}

}  // namespace ktune::gate
