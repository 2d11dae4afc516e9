#include "store/store.h"

#include "store/impl.h"

namespace ktune::store {

namespace {

constexpr const char* kLink =
    "INSERT OR IGNORE INTO problem_trial(problem_id, is_final, outcome, time_us, trial_id, is_default) "
    "SELECT ?1, is_final, outcome, coalesce(time_us, 0.0), id, is_default FROM trial WHERE id = ?2";
/// The way of timing a problem is known by is its first measured trial's.
constexpr const char* kAdoptTiming =
    "UPDATE problem SET (timer, cache_state) = (SELECT timer, cache_state FROM trial WHERE id = ?2) "
    "WHERE id = ?1 AND timer IS NULL AND (SELECT outcome = 'Measured' FROM trial WHERE id = ?2)";

void link(SQLite::Statement& insert, SQLite::Statement& adopt, std::int64_t problem, std::int64_t trial) {
  RowWriter(insert).integer(problem).integer(trial);
  insert.exec();
  RowWriter(adopt).integer(problem).integer(trial);
  adopt.exec();
}

}  // namespace

Store::Store(const std::string& path, Mode mode, int busy_timeout_ms) {
  impl_ = guarded(path, [&] { return std::make_unique<Impl>(path, mode, busy_timeout_ms); });
}

Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

const std::string& Store::path() const { return impl_->path; }

std::int64_t Store::add_session(const model::SessionRecord& session) {
  impl_->write([&] {
    SQLite::Statement& insert = impl_->statement(insert_into("session", session_columns()));
    write_session(RowWriter(insert), session);
    insert.exec();
  });
  return impl_->database.getLastInsertRowid();
}

void Store::complete_session(std::int64_t session) {
  impl_->write([&] {
    SQLite::Statement& update = impl_->statement("UPDATE session SET complete = 1 WHERE id = ?");
    RowWriter(update).integer(session);
    KTUNE_CHECK(update.exec() == 1);
  });
}

std::int64_t Store::add_problem(const model::ProblemRecord& problem) {
  impl_->write([&] {
    SQLite::Statement& insert = impl_->statement(insert_into("problem", "session_id, " + problem_columns()));
    write_problem(RowWriter(insert), problem);
    insert.exec();
  });
  return impl_->database.getLastInsertRowid();
}

void Store::update_problem(const model::ProblemRecord& problem) {
  impl_->write([&] {
    ColumnNames counts;
    model::ProblemRecord::counts(problem, counts);
    SQLite::Statement& update = impl_->statement(update_of("problem", counts.text()));
    RowWriter row(update);
    model::ProblemRecord::counts(problem, row);
    row.integer(problem.id);
    KTUNE_CHECK(update.exec() == 1);
  });
}

std::int64_t Store::add_trial(const model::TrialRecord& trial) {
  static const std::string kInsert =
      insert_into("trial", "session_id, problem_id, " + trial_columns() + sample_columns());
  std::int64_t id = 0;
  impl_->write([&] {
    SQLite::Statement& insert = impl_->statement(kInsert);
    write_trial(RowWriter(insert), trial);
    insert.exec();
    id = impl_->database.getLastInsertRowid();
    link(impl_->statement(kLink), impl_->statement(kAdoptTiming), trial.problem, id);
  });
  return id;
}

void Store::set_traffic(std::int64_t trial, const model::TrafficRecord& traffic) {
  impl_->write([&] {
    SQLite::Statement& update = impl_->statement(update_of("trial", columns_of<model::TrafficRecord>()));
    RowWriter row(update);
    model::TrafficRecord::fields(traffic, row);
    row.integer(trial);
    KTUNE_CHECK(update.exec() == 1);
  });
}

void Store::add_fit(const model::FitRecord& fit) {
  impl_->write([&] {
    SQLite::Statement& insert = impl_->statement(insert_into("fit", columns_of<model::FitRecord>()));
    model::FitRecord::fields(fit, RowWriter(insert));
    insert.exec();
  });
}

std::vector<model::FitRecord> Store::fits(const std::string& device, const std::string& driver, double power_limit_w) {
  return guarded(impl_->path, [&] { return newest_fits(impl_->database, device, driver, power_limit_w); });
}

void Store::link_trial(std::int64_t problem, std::int64_t trial) {
  impl_->write([&] { link(impl_->statement(kLink), impl_->statement(kAdoptTiming), problem, trial); });
}

void Store::in_one_transaction(const std::function<void()>& work) {
  KTUNE_CHECK(!impl_->in_batch);
  guarded(impl_->path, [&] {
    SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
    impl_->in_batch = true;
    try {
      work();
    } catch (...) {
      impl_->in_batch = false;
      throw;
    }
    impl_->in_batch = false;
    transaction.commit();
  });
}

namespace {

std::optional<model::TrialRecord> first_trial(SQLite::Statement& select, bool with_samples, VariantCache& variants) {
  std::optional<model::TrialRecord> trial;
  if (select.executeStep()) trial = read_trial(select, with_samples, variants);
  select.reset();
  return trial;
}

}  // namespace

std::optional<model::TrialRecord> Store::find_trial(const std::string& fingerprint) {
  return guarded(impl_->path, [&] {
    SQLite::Statement& select = impl_->statement(
        fmt::format("SELECT {} FROM trial t WHERE t.fingerprint = ? AND t.outcome NOT IN ('Crashed', 'TimedOut') "
                    "AND NOT {} ORDER BY t.date DESC, t.id DESC LIMIT 1",
                    trial_selection(impl_->schema), transient_column(impl_->schema)));
    RowWriter(select).text(fingerprint);
    return first_trial(select, false, impl_->variants);
  });
}

std::optional<model::TrialRecord> Store::nearest_trial(const std::string& op, const std::string& problem_text,
                                                       const std::string& variant_text) {
  return guarded(impl_->path, [&] {
    SQLite::Statement& select = impl_->statement(
        fmt::format("SELECT {} FROM trial t WHERE t.op = ? AND t.problem_text = ? AND t.variant_text = ? "
                    "ORDER BY t.is_final, t.date DESC, t.id DESC LIMIT 1",
                    trial_selection(impl_->schema)));
    RowWriter(select).text(op).text(problem_text).text(variant_text);
    return first_trial(select, false, impl_->variants);
  });
}

std::optional<model::TrialRecord> Store::load_trial(std::int64_t id) {
  return guarded(impl_->path, [&] {
    SQLite::Statement& select =
        impl_->statement(fmt::format("SELECT {} FROM trial t WHERE t.id = ?", trial_selection(impl_->schema, true)));
    RowWriter(select).integer(id);
    return first_trial(select, true, impl_->variants);
  });
}

std::optional<model::ProblemRecord> Store::load_problem(std::int64_t id) {
  return guarded(impl_->path, [&]() -> std::optional<model::ProblemRecord> {
    SQLite::Statement& select =
        impl_->statement(fmt::format("SELECT {} FROM problem p WHERE p.id = ?", problem_selection(impl_->schema)));
    RowWriter(select).integer(id);
    if (!select.executeStep()) return std::nullopt;
    model::ProblemRecord problem = read_problem(select);
    select.reset();
    return problem;
  });
}

model::Variant Store::previous_winner(const std::string& op, const std::string& problem_text, const std::string& device,
                                      std::int64_t session) {
  return guarded(impl_->path, [&]() -> model::Variant {
    if (impl_->schema < kSchemaWithWinners) return {};
    SQLite::Statement& select = impl_->statement(
        "SELECT p.winner FROM problem p JOIN session s ON s.id = p.session_id WHERE p.op = ? AND p.text = ? AND "
        "s.device_name = ? AND s.id <> ? AND p.winner <> '{}' ORDER BY s.date DESC, s.id DESC LIMIT 1");
    RowWriter(select).text(op).text(problem_text).text(device).integer(session);
    if (!select.executeStep()) return {};
    const auto winner = RowReader(select).json<model::Variant>();
    select.reset();
    return winner;
  });
}

}  // namespace ktune::store
