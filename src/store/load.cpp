#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "model/newest.h"
#include "store/impl.h"

namespace ktune::store {

namespace {

/// A WHERE clause over `session s` and `problem p`, and the texts it binds.
struct Condition {
  std::string sql = "1";
  std::vector<std::string> texts;

  void add(const std::string& term, std::vector<std::string> values) {
    sql += " AND " + term;
    texts.insert(texts.end(), values.begin(), values.end());
  }
  void add_among(const std::string& column, const std::vector<std::string>& values) {
    if (values.empty()) return;
    std::string marks = "?";
    for (std::size_t i = 1; i < values.size(); ++i) marks += ", ?";
    add(fmt::format("{} IN ({})", column, marks), values);
  }
};

/// Dates are compared as texts, so anything else would silently keep or drop everything.
void check_since(const std::string& since) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  const bool fits = since.size() <= kForm.size() && since.size() >= 4 &&
                    std::equal(since.begin(), since.end(), kForm.begin(), [](char have, char want) {
                      return want == 'd' ? std::isdigit(static_cast<unsigned char>(have)) != 0 : have == want;
                    });
  if (!fits)
    throw Error(ErrorKind::kUsage, fmt::format("'{}' is no date", since),
                "write it as 2026-11-29 or 2026-11-29T14:00:00Z (UTC)");
}

Condition condition_of(const Filter& filter) {
  Condition condition;
  condition.add_among("p.op", filter.ops);
  condition.add_among("p.dtype", filter.dtypes);
  if (!filter.device.empty())
    condition.add("(instr(lower(s.device_name), lower(?)) > 0 OR instr(lower(s.device_kind), lower(?)) > 0)",
                  {filter.device, filter.device});
  if (!filter.since.empty()) {
    check_since(filter.since);
    condition.add("s.date >= ?", {filter.since});
  }
  if (filter.session) condition.sql += fmt::format(" AND s.id = {}", *filter.session);
  return condition;
}

void bind(SQLite::Statement& statement, const Condition& condition) {
  RowWriter row(statement);
  for (const std::string& text : condition.texts) row.text(text);
}

/// Reads by id what others chose.
class Loader {
 public:
  Loader(SQLite::Database& database, int schema, VariantCache& variants, bool with_samples)
      : database_(database),
        session_(database, fmt::format("SELECT {} FROM session s WHERE s.id = ?", session_selection())),
        problem_(database, fmt::format("SELECT {} FROM problem p WHERE p.id = ?", problem_selection(schema))),
        variants_(variants),
        with_samples_(with_samples) {}

  void add_problem(std::int64_t id) {
    RowWriter(problem_).integer(id);
    if (!problem_.executeStep()) return;
    dataset_.problems.push_back(read_problem(problem_));
    sessions_.insert(dataset_.problems.back().session);
  }

  /// The trials a statement finds for the last problem added.
  void add_trials(SQLite::Statement& select) {
    while (select.executeStep()) {
      dataset_.trials.push_back(read_trial(select, with_samples_, variants_));
      dataset_.trials.back().problem = dataset_.problems.back().id;
    }
  }

  model::ProblemRecord& last_problem() { return dataset_.problems.back(); }

  model::Dataset finish() {
    for (const std::int64_t id : sessions_) {
      RowWriter(session_).integer(id);
      if (session_.executeStep()) dataset_.sessions.push_back(read_session(session_));
    }
    add_fits();
    return std::move(dataset_);
  }

 private:
  void add_fits() {
    std::set<std::tuple<std::string, std::string, double>> machines;
    for (const model::SessionRecord& session : dataset_.sessions)
      machines.emplace(session.device.name, session.device.driver, session.device.power_limit_w);
    for (const auto& [device, driver, power] : machines)
      for (model::FitRecord& fit : newest_fits(database_, device, driver, power))
        dataset_.fits.push_back(std::move(fit));
  }

  SQLite::Database& database_;
  SQLite::Statement session_, problem_;
  VariantCache& variants_;
  bool with_samples_;
  std::set<std::int64_t> sessions_;
  model::Dataset dataset_;
};

std::vector<std::int64_t> matching_problems(SQLite::Database& database, const Filter& filter) {
  const Condition condition = condition_of(filter);
  SQLite::Statement select(database, "SELECT p.id FROM session s JOIN problem p ON p.session_id = s.id WHERE " +
                                         condition.sql + " ORDER BY p.id");
  bind(select, condition);
  std::vector<std::int64_t> ids;
  while (select.executeStep()) ids.push_back(select.getColumn(0).getInt64());
  return ids;
}

std::vector<std::int64_t> newest_problems(SQLite::Database& database, const Filter& filter) {
  const Condition condition = condition_of(filter);
  SQLite::Statement select(
      database,
      "SELECT p.id, p.op, p.text, s.device_kind, s.device_name, coalesce(p.timer || ' ' || p.cache_state, '') "
      "FROM session s JOIN problem p ON p.session_id = s.id WHERE " +
          condition.sql +
          " AND EXISTS (SELECT 1 FROM problem_trial WHERE problem_id = p.id) "
          "ORDER BY s.date DESC, s.id DESC, p.id DESC");
  bind(select, condition);
  model::NewestPick pick;
  std::vector<std::int64_t> ids;
  while (select.executeStep()) {
    RowReader row(select);
    const std::int64_t id = row.integer();
    std::string subject;
    for (int i = 0; i < 4; ++i) subject += row.text() + '\n';
    if (pick.offer(subject, row.text())) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

std::vector<model::FitRecord> newest_fits(SQLite::Database& database, const std::string& device,
                                          const std::string& driver, double power_limit_w) {
  std::vector<model::FitRecord> fits;
  if (!database.tableExists("fit")) return fits;
  SQLite::Statement select(database,
                           fmt::format("SELECT {} FROM fit WHERE device = ? AND driver = ? AND power_limit_w = ? "
                                       "ORDER BY read_fraction DESC, cache_state, timer, launches, date DESC, id DESC",
                                       columns_of<model::FitRecord>()));
  RowWriter(select).text(device).text(driver).real(power_limit_w);
  const auto key = [](const model::FitRecord& fit) {
    return std::tuple(fit.read_fraction, fit.cache_state, fit.timer, fit.launches);
  };
  while (select.executeStep()) {
    model::FitRecord fit = read_row<model::FitRecord>(select);
    if (fits.empty() || key(fits.back()) != key(fit)) fits.push_back(std::move(fit));
  }
  return fits;
}

model::Dataset Store::load(const Filter& filter) {
  return guarded(impl_->path, [&] {
    SQLite::Transaction snapshot(impl_->database);  // one state, whoever writes meanwhile
    Loader loader(impl_->database, impl_->schema, impl_->variants, filter.with_samples);
    SQLite::Statement trials(
        impl_->database,
        fmt::format("SELECT {} FROM problem_trial pt JOIN trial t ON t.id = pt.trial_id WHERE pt.problem_id = ? "
                    "ORDER BY t.id",
                    trial_selection(impl_->schema, filter.with_samples)));
    for (const std::int64_t id : matching_problems(impl_->database, filter)) {
      loader.add_problem(id);
      RowWriter(trials).integer(id);
      loader.add_trials(trials);
    }
    return loader.finish();
  });
}

model::Dataset Store::load_latest(const Filter& filter) {
  return guarded(impl_->path, [&] {
    SQLite::Transaction snapshot(impl_->database);
    Loader loader(impl_->database, impl_->schema, impl_->variants, filter.with_samples);
    SQLite::Statement counts(impl_->database,
                             "SELECT outcome, count(*) FROM problem_trial WHERE problem_id = ? AND is_final = 0 "
                             "GROUP BY outcome");
    SQLite::Statement trials(
        impl_->database,
        fmt::format("SELECT {} FROM trial t WHERE t.id IN ("
                    "SELECT trial_id FROM problem_trial WHERE problem_id = ?1 AND is_final = 1 UNION "
                    "SELECT trial_id FROM problem_trial WHERE problem_id = ?1 AND is_default = 1 UNION "
                    "SELECT trial_id FROM (SELECT trial_id FROM problem_trial WHERE problem_id = ?1 AND is_final = 0 "
                    "AND outcome = 'Measured' ORDER BY time_us, trial_id LIMIT 1)) ORDER BY t.id",
                    trial_selection(impl_->schema, filter.with_samples)));
    for (const std::int64_t id : newest_problems(impl_->database, filter)) {
      loader.add_problem(id);
      RowWriter(counts).integer(id);
      while (counts.executeStep())
        loader.last_problem().outcomes[counts.getColumn(0).getString()] = counts.getColumn(1).getInt64();
      RowWriter(trials).integer(id);
      loader.add_trials(trials);
    }
    return loader.finish();
  });
}

}  // namespace ktune::store
