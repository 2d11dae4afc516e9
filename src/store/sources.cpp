#include "base/hash.h"
#include "store/impl.h"

// What a gate asks of the store: the files a winner was swept from, and how noisy a device's processes are.

namespace ktune::store {

namespace {

std::string hash_of(const model::SourceBundle& bundle) {
  FieldHasher hasher;
  hasher.add("spec", bundle.spec);
  for (const auto& [path, text] : bundle.files) hasher.add(path, text);
  return hasher.hex();
}

}  // namespace

void Store::add_source(const std::string& spec_hash, const std::string& source_hash,
                       const model::SourceBundle& bundle) {
  const std::string hash = hash_of(bundle);
  impl_->write([&] {
    SQLite::Statement& insert = impl_->statement("INSERT OR IGNORE INTO bundle(hash, spec, files) VALUES (?, ?, ?)");
    RowWriter(insert).text(hash).text(bundle.spec).json(model::Json(bundle.files));
    insert.exec();
    SQLite::Statement& link =
        impl_->statement("INSERT OR IGNORE INTO source(spec_hash, source_hash, bundle_hash) VALUES (?, ?, ?)");
    RowWriter(link).text(spec_hash).text(source_hash).text(hash);
    link.exec();
  });
}

std::optional<model::SourceBundle> Store::source(const std::string& spec_hash, const std::string& source_hash) {
  return guarded(impl_->path, [&]() -> std::optional<model::SourceBundle> {
    if (impl_->schema < kSchemaWithSources) return std::nullopt;
    SQLite::Statement& select = impl_->statement(
        "SELECT b.spec, b.files FROM source s JOIN bundle b ON b.hash = s.bundle_hash WHERE s.spec_hash = ? AND "
        "s.source_hash = ?");
    RowWriter(select).text(spec_hash).text(source_hash);
    if (!select.executeStep()) return std::nullopt;
    RowReader row(select);
    model::SourceBundle bundle;
    bundle.spec = row.text();
    row("files", bundle.files);
    select.reset();
    return bundle;
  });
}

void Store::add_noise(const model::ProcessNoise& noise) {
  impl_->write([&] {
    SQLite::Statement& insert = impl_->statement(insert_into("process_noise", columns_of<model::ProcessNoise>()));
    model::ProcessNoise::fields(noise, RowWriter(insert));
    insert.exec();
  });
}

std::optional<model::ProcessNoise> Store::noise(const model::DeviceFacts& device, model::CacheState cache_state) {
  return guarded(impl_->path, [&]() -> std::optional<model::ProcessNoise> {
    if (impl_->schema < kSchemaWithSources) return std::nullopt;
    SQLite::Statement& select = impl_->statement(
        fmt::format("SELECT {} FROM process_noise WHERE device = ? AND driver = ? AND power_limit_w = ? AND "
                    "cache_state = ? ORDER BY date DESC, id DESC LIMIT 1",
                    columns_of<model::ProcessNoise>()));
    const std::string state(name_of(cache_state));
    RowWriter(select).text(device.name).text(device.driver).real(device.power_limit_w).text(state);
    if (!select.executeStep()) return std::nullopt;
    auto noise = read_row<model::ProcessNoise>(select);
    select.reset();
    return noise;
  });
}

std::vector<model::ProblemRecord> Store::winner_records(const std::string& device, std::int64_t session,
                                                        bool of_roofline) {
  return guarded(impl_->path, [&] {
    std::vector<model::ProblemRecord> records;
    if (impl_->schema < kSchemaWithWinners) return records;
    SQLite::Statement& select = impl_->statement(fmt::format(
        "SELECT {} FROM problem p JOIN session s ON s.id = p.session_id WHERE s.device_name = ? AND p.winner <> '{{}}' "
        "AND (?2 = 0 OR s.id = ?2) AND (?3 <> 0 OR s.command NOT LIKE 'ktune roofline%') ORDER BY p.op, p.text, s.date "
        "DESC, s.id DESC",
        problem_selection(impl_->schema)));
    RowWriter(select).text(device).integer(session).integer(of_roofline ? 1 : 0);
    while (select.executeStep()) {
      model::ProblemRecord record = read_problem(select);
      const bool newest =
          records.empty() || records.back().op != record.op || records.back().problem.text() != record.problem.text();
      if (newest) records.push_back(std::move(record));
    }
    select.reset();
    return records;
  });
}

std::vector<std::string> Store::devices_of(const std::string& target) {
  return guarded(impl_->path, [&] {
    std::vector<std::string> names;
    SQLite::Statement& select = impl_->statement(
        "SELECT DISTINCT device_name FROM session WHERE json_extract(device, '$.target') = ? ORDER BY device_name");
    RowWriter(select).text(target);
    while (select.executeStep()) names.push_back(RowReader(select).text());
    select.reset();
    return names;
  });
}

}  // namespace ktune::store
