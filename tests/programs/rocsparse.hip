// Debian's rocSPARSE, as it is: its routines against plain loops on the host. Numbers are small integers wherever the
// routine only adds and multiplies, so that every order of adding gives the same; solvers and factorisations are
// compared within what single precision allows.
#include <rocsparse/rocsparse.h>

#include <algorithm>
#include <map>

#include "routines.h"

namespace {

using check::Device;
using Floats = std::vector<float>;
using Indices = std::vector<rocsparse_int>;

#define ROCSPARSE(call) EXPECT((call) == rocsparse_status_success)

constexpr auto kZeroBased = rocsparse_index_base_zero;
constexpr auto kPlain = rocsparse_operation_none;

class Handle {
 public:
  Handle() { ROCSPARSE(rocsparse_create_handle(&handle_)); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { ROCSPARSE(rocsparse_destroy_handle(handle_)); }
  operator rocsparse_handle() const { return handle_; }

 private:
  rocsparse_handle handle_ = nullptr;
};

class Description {
 public:
  Description() { ROCSPARSE(rocsparse_create_mat_descr(&descr_)); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  ~Description() { ROCSPARSE(rocsparse_destroy_mat_descr(descr_)); }
  operator rocsparse_mat_descr() const { return descr_; }

 private:
  rocsparse_mat_descr descr_ = nullptr;
};

class Info {
 public:
  Info() { ROCSPARSE(rocsparse_create_mat_info(&info_)); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  ~Info() { ROCSPARSE(rocsparse_destroy_mat_info(info_)); }
  operator rocsparse_mat_info() const { return info_; }

 private:
  rocsparse_mat_info info_ = nullptr;
};

/// A matrix as sorted rows of (column, value), which the host's loops walk.
struct Matrix {
  int rows = 0, columns = 0;
  std::vector<std::map<int, float>> entries;
};

/// The same in compressed rows.
struct Csr {
  Indices row_starts{0}, columns;
  Floats values;

  explicit Csr(const Matrix& matrix) {
    for (const auto& row : matrix.entries) {
      for (const auto& [column, value] : row) {
        columns.push_back(column);
        values.push_back(value);
      }
      row_starts.push_back(static_cast<rocsparse_int>(columns.size()));
    }
  }
};

/// And on the GPU.
struct DeviceCsr {
  Device<rocsparse_int> row_starts, columns;
  Device<float> values;
  rocsparse_int count;

  explicit DeviceCsr(const Csr& csr)
      : row_starts(csr.row_starts),
        columns(csr.columns),
        values(csr.values),
        count(static_cast<rocsparse_int>(csr.values.size())) {}
  explicit DeviceCsr(const Matrix& matrix) : DeviceCsr(Csr(matrix)) {}
};

int small(check::Random& random) {
  const int value = static_cast<int>(random.next() % 8);
  return value < 4 ? value - 4 : value - 3;  // never 0
}

/// Up to `per_row` entries in a row; some rows are empty and some are long, as in matrices that people have.
Matrix random_matrix(int rows, int columns, int per_row, uint64_t seed = 1) {
  check::Random random(seed);
  Matrix matrix{rows, columns, std::vector<std::map<int, float>>(static_cast<size_t>(rows))};
  for (int row = 0; row < rows; ++row) {
    const int count = row % 97 == 5 ? 0 : row % 211 == 3 ? per_row * 12 : 1 + static_cast<int>(random.next() % per_row);
    for (int i = 0; i < count; ++i) matrix.entries[row][static_cast<int>(random.next() % columns)] = small(random);
  }
  return matrix;
}

/// Symmetric, with a diagonal that outweighs each row, so that it can be factorised.
Matrix symmetric_matrix(int rows) {
  check::Random random(7);
  Matrix matrix{rows, rows, std::vector<std::map<int, float>>(static_cast<size_t>(rows))};
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < 3 && row > 0; ++i) {
      const int column = row - 1 - static_cast<int>(random.next() % static_cast<uint64_t>(std::min(row, 200)));
      matrix.entries[row][column] = matrix.entries[column][row] = static_cast<float>(small(random));
    }
  }
  for (int row = 0; row < rows; ++row) {
    float sum = 1;
    for (const auto& [column, value] : matrix.entries[row]) sum += std::fabs(value);
    matrix.entries[row][row] = sum;
  }
  return matrix;
}

Matrix lower_triangle(Matrix matrix) {
  for (int row = 0; row < matrix.rows; ++row)
    matrix.entries[row].erase(matrix.entries[row].upper_bound(row), matrix.entries[row].end());
  return matrix;
}

Floats random_floats(int count, uint64_t seed = 2) {
  check::Random random(seed);
  Floats values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(small(random));
  return values;
}

/// y = 2 A x + 3 y
constexpr float kAlpha = 2, kBeta = 3;
Floats times(const Matrix& a, const Floats& x, const Floats& y) {
  Floats result(y.size());
  for (int row = 0; row < a.rows; ++row) {
    float sum = 0;
    for (const auto& [column, value] : a.entries[row]) sum += value * x[column];
    result[row] = kAlpha * sum + kBeta * y[row];
  }
  return result;
}

/// Within `tolerance`, relative to the larger of 1 and the value.
void near(const char* what, const Floats& got, const std::vector<double>& want, double tolerance) {
  EXPECT(got.size() == want.size());
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    if (!(std::fabs(got[i] - want[i]) <= tolerance * std::max(1.0, std::fabs(want[i]))))
      check::failed(what, static_cast<int>(i), "got " + check::text(got[i]) + ", want " + check::text(want[i]));
  }
}

/// A sparse vector: every third place or so, in ascending order.
Indices sparse_places(int size) {
  check::Random random(3);
  Indices places;
  for (int place = 0; place < size; place += 1 + static_cast<int>(random.next() % 5)) places.push_back(place);
  return places;
}

struct SparseVector {
  Indices places;
  Floats values, dense;
  Device<rocsparse_int> device_places;
  Device<float> device_values, device_dense;
  explicit SparseVector(int size)
      : places(sparse_places(size)),
        values(random_floats(static_cast<int>(places.size()), 4)),
        dense(random_floats(size, 5)),
        device_places(places),
        device_values(values),
        device_dense(dense) {}
  rocsparse_int count() const { return static_cast<rocsparse_int>(places.size()); }
};

void axpyi(int size) {
  SparseVector v(size);
  ROCSPARSE(rocsparse_saxpyi(Handle(), v.count(), &kAlpha, v.device_values.get(), v.device_places.get(),
                             v.device_dense.get(), kZeroBased));
  check::finish();
  for (size_t i = 0; i < v.places.size(); ++i) v.dense[v.places[i]] += kAlpha * v.values[i];
  check::equal("axpyi", v.device_dense.read(), v.dense);
}

void doti(int size) {
  const SparseVector v(size);
  float got = 0, want = 0;
  ROCSPARSE(rocsparse_sdoti(Handle(), v.count(), v.device_values.get(), v.device_places.get(), v.device_dense.get(),
                            &got, kZeroBased));
  check::finish();
  for (size_t i = 0; i < v.places.size(); ++i) want += v.values[i] * v.dense[v.places[i]];
  check::equal("doti", got, want);
}

void gthr(int size) {
  const SparseVector v(size);
  ROCSPARSE(rocsparse_sgthr(Handle(), v.count(), v.device_dense.get(), v.device_values.get(), v.device_places.get(),
                            kZeroBased));
  check::finish();
  Floats want;
  for (const rocsparse_int place : v.places) want.push_back(v.dense[place]);
  check::equal("gthr", v.device_values.read(), want);
}

void sctr(int size) {
  SparseVector v(size);
  ROCSPARSE(rocsparse_ssctr(Handle(), v.count(), v.device_values.get(), v.device_places.get(), v.device_dense.get(),
                            kZeroBased));
  check::finish();
  for (size_t i = 0; i < v.places.size(); ++i) v.dense[v.places[i]] = v.values[i];
  check::equal("sctr", v.device_dense.read(), v.dense);
}

void roti(int size) {
  SparseVector v(size);
  const float cosine = 0.5f, sine = 0.25f;
  ROCSPARSE(rocsparse_sroti(Handle(), v.count(), v.device_values.get(), v.device_places.get(), v.device_dense.get(),
                            &cosine, &sine, kZeroBased));
  check::finish();
  for (size_t i = 0; i < v.places.size(); ++i) {
    const float x = v.values[i], y = v.dense[v.places[i]];
    v.values[i] = cosine * x + sine * y;
    v.dense[v.places[i]] = cosine * y - sine * x;
  }
  check::equal("sparse", v.device_values.read(), v.values);
  check::equal("dense", v.device_dense.read(), v.dense);
}

/// Operands of y = 2 A x + 3 y.
struct Product {
  Matrix matrix;
  Csr csr;
  DeviceCsr device;
  Floats x, y;
  Device<float> device_x, device_y;
  explicit Product(int size)
      : matrix(random_matrix(size, size, 20)),
        csr(matrix),
        device(csr),
        x(random_floats(size, 8)),
        y(random_floats(size, 9)),
        device_x(x),
        device_y(y) {}
  void check(const char* what) const {
    check::finish();
    check::equal(what, device_y.read(), times(matrix, x, y));
  }
};

void csrmv(int size) {
  const Handle handle;
  const Description descr;
  const Info info;
  const auto multiply = [&](const Product& p, rocsparse_mat_info analysed) {
    ROCSPARSE(rocsparse_scsrmv(handle, kPlain, size, size, p.device.count, &kAlpha, descr, p.device.values.get(),
                               p.device.row_starts.get(), p.device.columns.get(), analysed, p.device_x.get(), &kBeta,
                               p.device_y.get()));
  };
  const Product without_analysis(size), with_analysis(size);
  multiply(without_analysis, nullptr);
  without_analysis.check("csrmv");
  const DeviceCsr& a = with_analysis.device;
  ROCSPARSE(rocsparse_scsrmv_analysis(handle, kPlain, size, size, a.count, descr, a.values.get(), a.row_starts.get(),
                                      a.columns.get(), info));
  multiply(with_analysis, info);
  with_analysis.check("csrmv, analysed");
}

Indices row_of_each_entry(const Matrix& matrix) {
  Indices rows;
  for (int row = 0; row < matrix.rows; ++row) rows.insert(rows.end(), matrix.entries[row].size(), row);
  return rows;
}

void coomv(int size) {
  const Product p(size);
  const Device<rocsparse_int> rows(row_of_each_entry(p.matrix));
  ROCSPARSE(rocsparse_scoomv(Handle(), kPlain, size, size, p.device.count, &kAlpha, Description(),
                             p.device.values.get(), rows.get(), p.device.columns.get(), p.device_x.get(), &kBeta,
                             p.device_y.get()));
  p.check("coomv");
}

void ellmv(int size) {
  const Product p(size);
  const Handle handle;
  const Description descr;
  rocsparse_int width = 0;
  ROCSPARSE(rocsparse_csr2ell_width(handle, size, descr, p.device.row_starts.get(), descr, &width));
  size_t want_width = 0;
  for (const auto& row : p.matrix.entries) want_width = std::max(want_width, row.size());
  check::equal("width", width, static_cast<rocsparse_int>(want_width));
  const size_t places = static_cast<size_t>(size) * static_cast<size_t>(width);
  const Device<float> values(places);
  const Device<rocsparse_int> columns(places);
  ROCSPARSE(rocsparse_scsr2ell(handle, size, descr, p.device.values.get(), p.device.row_starts.get(),
                               p.device.columns.get(), descr, width, values.get(), columns.get()));
  ROCSPARSE(rocsparse_sellmv(handle, kPlain, size, size, &kAlpha, descr, values.get(), columns.get(), width,
                             p.device_x.get(), &kBeta, p.device_y.get()));
  p.check("ellmv");
}

void bsrmv(int size) {
  constexpr int dimension = 4;
  size -= size % dimension;
  const Product p(size);
  const Handle handle;
  const Description descr;
  const int blocks = size / dimension;
  const Device<rocsparse_int> row_starts(blocks + 1);
  rocsparse_int count = 0;
  ROCSPARSE(rocsparse_csr2bsr_nnz(handle, rocsparse_direction_row, size, size, descr, p.device.row_starts.get(),
                                  p.device.columns.get(), dimension, descr, row_starts.get(), &count));
  const Device<float> values(static_cast<size_t>(count) * dimension * dimension);
  const Device<rocsparse_int> columns(count);
  ROCSPARSE(rocsparse_scsr2bsr(handle, rocsparse_direction_row, size, size, descr, p.device.values.get(),
                               p.device.row_starts.get(), p.device.columns.get(), dimension, descr, values.get(),
                               row_starts.get(), columns.get()));
  ROCSPARSE(rocsparse_sbsrmv(handle, rocsparse_direction_row, kPlain, blocks, blocks, count, &kAlpha, descr,
                             values.get(), row_starts.get(), columns.get(), dimension, p.device_x.get(), &kBeta,
                             p.device_y.get()));
  p.check("bsrmv");
}

void csrsv(int size) {
  const Matrix matrix = lower_triangle(symmetric_matrix(size));
  const DeviceCsr a(matrix);
  const Floats x = random_floats(size);
  const Device<float> device_x(x), device_y(size);
  const Handle handle;
  const Description descr;
  const Info info;
  ROCSPARSE(rocsparse_set_mat_fill_mode(descr, rocsparse_fill_mode_lower));
  size_t bytes = 0;
  ROCSPARSE(rocsparse_scsrsv_buffer_size(handle, kPlain, size, a.count, descr, a.values.get(), a.row_starts.get(),
                                         a.columns.get(), info, &bytes));
  const Device<unsigned char> storage(bytes);
  ROCSPARSE(rocsparse_scsrsv_analysis(handle, kPlain, size, a.count, descr, a.values.get(), a.row_starts.get(),
                                      a.columns.get(), info, rocsparse_analysis_policy_reuse,
                                      rocsparse_solve_policy_auto, storage.get()));
  ROCSPARSE(rocsparse_scsrsv_solve(handle, kPlain, size, a.count, &kAlpha, descr, a.values.get(), a.row_starts.get(),
                                   a.columns.get(), info, device_x.get(), device_y.get(), rocsparse_solve_policy_auto,
                                   storage.get()));
  check::finish();
  std::vector<double> want(x.size());
  for (int row = 0; row < size; ++row) {
    double rest = kAlpha * x[row];
    for (const auto& [column, value] : matrix.entries[row]) rest -= column < row ? value * want[column] : 0;
    want[row] = rest / matrix.entries[row].at(row);
  }
  near("csrsv", device_y.read(), want, 1e-4);
}

void csrmm(int size) {
  constexpr int columns = 24;
  const Matrix matrix = random_matrix(size, size, 10);
  const DeviceCsr a(matrix);
  const Floats b = random_floats(size * columns, 10), c = random_floats(size * columns, 11);
  const Device<float> device_b(b), device_c(c);
  ROCSPARSE(rocsparse_scsrmm(Handle(), kPlain, kPlain, size, columns, size, a.count, &kAlpha, Description(),
                             a.values.get(), a.row_starts.get(), a.columns.get(), device_b.get(), size, &kBeta,
                             device_c.get(), size));
  check::finish();
  Floats want;
  for (int column = 0; column < columns; ++column) {
    const auto slice = [&](const Floats& all) {
      return Floats(all.begin() + column * size, all.begin() + (column + 1) * size);
    };
    const Floats product = times(matrix, slice(b), slice(c));
    want.insert(want.end(), product.begin(), product.end());
  }
  check::equal("csrmm", device_c.read(), want);
}

void check_csr(const Csr& want, const Device<rocsparse_int>& row_starts, const Device<rocsparse_int>& columns,
               const Device<float>& values) {
  check::equal("row starts", row_starts.read(), want.row_starts);
  check::equal("columns", columns.read(), want.columns);
  check::equal("values", values.read(), want.values);
}

void csrgeam(int size) {
  const Matrix a = random_matrix(size, size, 12, 20), b = random_matrix(size, size, 15, 21);
  const DeviceCsr device_a(a), device_b(b);
  const Handle handle;
  const Description descr;
  const Device<rocsparse_int> row_starts(size + 1);
  rocsparse_int count = 0;
  ROCSPARSE(rocsparse_csrgeam_nnz(handle, size, size, descr, device_a.count, device_a.row_starts.get(),
                                  device_a.columns.get(), descr, device_b.count, device_b.row_starts.get(),
                                  device_b.columns.get(), descr, row_starts.get(), &count));
  const Device<rocsparse_int> columns(count);
  const Device<float> values(count);
  ROCSPARSE(rocsparse_scsrgeam(handle, size, size, &kAlpha, descr, device_a.count, device_a.values.get(),
                               device_a.row_starts.get(), device_a.columns.get(), &kBeta, descr, device_b.count,
                               device_b.values.get(), device_b.row_starts.get(), device_b.columns.get(), descr,
                               values.get(), row_starts.get(), columns.get()));
  check::finish();
  Matrix sum{size, size, std::vector<std::map<int, float>>(static_cast<size_t>(size))};
  for (int row = 0; row < size; ++row) {
    for (const auto& [column, value] : a.entries[row]) sum.entries[row][column] += kAlpha * value;
    for (const auto& [column, value] : b.entries[row]) sum.entries[row][column] += kBeta * value;
  }
  check_csr(Csr(sum), row_starts, columns, values);
}

void csrgemm(int size) {
  const Matrix a = random_matrix(size, size, 5, 22), b = random_matrix(size, size, 4, 23);
  const DeviceCsr device_a(a), device_b(b);
  const Handle handle;
  const Description descr;
  const Info info;
  size_t bytes = 0;
  ROCSPARSE(rocsparse_scsrgemm_buffer_size(handle, kPlain, kPlain, size, size, size, &kAlpha, descr, device_a.count,
                                           device_a.row_starts.get(), device_a.columns.get(), descr, device_b.count,
                                           device_b.row_starts.get(), device_b.columns.get(), nullptr, nullptr, 0,
                                           nullptr, nullptr, info, &bytes));
  const Device<unsigned char> storage(std::max<size_t>(bytes, 1));
  const Device<rocsparse_int> row_starts(size + 1);
  rocsparse_int count = 0;
  ROCSPARSE(rocsparse_csrgemm_nnz(handle, kPlain, kPlain, size, size, size, descr, device_a.count,
                                  device_a.row_starts.get(), device_a.columns.get(), descr, device_b.count,
                                  device_b.row_starts.get(), device_b.columns.get(), nullptr, 0, nullptr, nullptr,
                                  descr, row_starts.get(), &count, info, storage.get()));
  const Device<rocsparse_int> columns(count);
  const Device<float> values(count);
  ROCSPARSE(rocsparse_scsrgemm(handle, kPlain, kPlain, size, size, size, &kAlpha, descr, device_a.count,
                               device_a.values.get(), device_a.row_starts.get(), device_a.columns.get(), descr,
                               device_b.count, device_b.values.get(), device_b.row_starts.get(), device_b.columns.get(),
                               nullptr, nullptr, 0, nullptr, nullptr, nullptr, descr, values.get(), row_starts.get(),
                               columns.get(), info, storage.get()));
  check::finish();
  Matrix product{size, size, std::vector<std::map<int, float>>(static_cast<size_t>(size))};
  for (int row = 0; row < size; ++row) {
    for (const auto& [middle, left] : a.entries[row]) {
      for (const auto& [column, right] : b.entries[middle]) product.entries[row][column] += kAlpha * left * right;
    }
  }
  check_csr(Csr(product), row_starts, columns, values);
}

/// The incomplete factors of A, on A's own places: row by row (Saad, Iterative Methods for Sparse Linear Systems,
/// algorithm 10.3).
std::vector<double> incomplete_lu(const Matrix& a) {
  std::vector<std::map<int, double>> factors;
  for (const auto& row : a.entries) {
    std::map<int, double> current(row.begin(), row.end());
    const int index = static_cast<int>(factors.size());
    for (auto& [k, factor] : current) {
      if (k >= index) break;
      factor /= factors[k].at(k);
      for (auto& [column, value] : current) {
        if (column <= k) continue;
        const auto upper = factors[k].find(column);
        if (upper != factors[k].end()) value -= factor * upper->second;
      }
    }
    factors.push_back(std::move(current));
  }
  std::vector<double> values;
  for (const auto& row : factors) {
    for (const auto& [column, value] : row) values.push_back(value);
  }
  return values;
}

/// L of the incomplete A = L L^T, on the places of A's lower triangle.
std::vector<double> incomplete_cholesky(const Matrix& lower) {
  std::vector<std::map<int, double>> factors;
  std::vector<double> values;
  for (const auto& row : lower.entries) {
    std::map<int, double> current;
    const int index = static_cast<int>(factors.size());
    for (const auto& [column, value] : row) {
      double rest = value;
      const auto& other = column == index ? current : factors[column];
      for (const auto& [k, left] : current) {
        const auto right = other.find(k);
        if (k < column && right != other.end()) rest -= left * right->second;
      }
      current[column] = column == index ? std::sqrt(rest) : rest / factors[column].at(column);
      values.push_back(current[column]);
    }
    factors.push_back(std::move(current));
  }
  return values;
}

void csrilu0(int size) {
  const Matrix matrix = symmetric_matrix(size);
  const DeviceCsr a(matrix);
  const Handle handle;
  const Description descr;
  const Info info;
  size_t bytes = 0;
  ROCSPARSE(rocsparse_scsrilu0_buffer_size(handle, size, a.count, descr, a.values.get(), a.row_starts.get(),
                                           a.columns.get(), info, &bytes));
  const Device<unsigned char> storage(bytes);
  ROCSPARSE(rocsparse_scsrilu0_analysis(handle, size, a.count, descr, a.values.get(), a.row_starts.get(),
                                        a.columns.get(), info, rocsparse_analysis_policy_reuse,
                                        rocsparse_solve_policy_auto, storage.get()));
  ROCSPARSE(rocsparse_scsrilu0(handle, size, a.count, descr, a.values.get(), a.row_starts.get(), a.columns.get(), info,
                               rocsparse_solve_policy_auto, storage.get()));
  check::finish();
  near("csrilu0", a.values.read(), incomplete_lu(matrix), 1e-4);
}

void csric0(int size) {
  const Matrix matrix = lower_triangle(symmetric_matrix(size));
  const DeviceCsr a(matrix);
  const Handle handle;
  const Description descr;
  const Info info;
  ROCSPARSE(rocsparse_set_mat_fill_mode(descr, rocsparse_fill_mode_lower));
  size_t bytes = 0;
  ROCSPARSE(rocsparse_scsric0_buffer_size(handle, size, a.count, descr, a.values.get(), a.row_starts.get(),
                                          a.columns.get(), info, &bytes));
  const Device<unsigned char> storage(bytes);
  ROCSPARSE(rocsparse_scsric0_analysis(handle, size, a.count, descr, a.values.get(), a.row_starts.get(),
                                       a.columns.get(), info, rocsparse_analysis_policy_reuse,
                                       rocsparse_solve_policy_auto, storage.get()));
  ROCSPARSE(rocsparse_scsric0(handle, size, a.count, descr, a.values.get(), a.row_starts.get(), a.columns.get(), info,
                              rocsparse_solve_policy_auto, storage.get()));
  check::finish();
  near("csric0", a.values.read(), incomplete_cholesky(matrix), 1e-4);
}

void csr2coo(int size) {
  const Matrix matrix = random_matrix(size, size, 20);
  const DeviceCsr a(matrix);
  const Device<rocsparse_int> rows(a.count);
  ROCSPARSE(rocsparse_csr2coo(Handle(), a.row_starts.get(), a.count, size, rows.get(), kZeroBased));
  check::finish();
  check::equal("csr2coo", rows.read(), row_of_each_entry(matrix));
}

void coo2csr(int size) {
  const Matrix matrix = random_matrix(size, size, 20);
  const Device<rocsparse_int> rows(row_of_each_entry(matrix)), row_starts(size + 1);
  ROCSPARSE(rocsparse_coo2csr(Handle(), rows.get(), static_cast<rocsparse_int>(rows.count()), size, row_starts.get(),
                              kZeroBased));
  check::finish();
  check::equal("coo2csr", row_starts.read(), Csr(matrix).row_starts);
}

void csr2csc(int size) {
  const int columns = size / 2 + 1;
  const Matrix matrix = random_matrix(size, columns, 10);
  const DeviceCsr a(matrix);
  const Handle handle;
  size_t bytes = 0;
  ROCSPARSE(rocsparse_csr2csc_buffer_size(handle, size, columns, a.count, a.row_starts.get(), a.columns.get(),
                                          rocsparse_action_numeric, &bytes));
  const Device<unsigned char> storage(bytes);
  const Device<float> values(a.count);
  const Device<rocsparse_int> rows(a.count), column_starts(columns + 1);
  ROCSPARSE(rocsparse_scsr2csc(handle, size, columns, a.count, a.values.get(), a.row_starts.get(), a.columns.get(),
                               values.get(), rows.get(), column_starts.get(), rocsparse_action_numeric, kZeroBased,
                               storage.get()));
  check::finish();
  Matrix transposed{columns, size, std::vector<std::map<int, float>>(static_cast<size_t>(columns))};
  for (int row = 0; row < size; ++row) {
    for (const auto& [column, value] : matrix.entries[row]) transposed.entries[column][row] = value;
  }
  check_csr(Csr(transposed), column_starts, rows, values);
}

void csrsort(int size) {
  const Csr sorted(random_matrix(size, size, 20));
  Csr shuffled = sorted;
  for (int row = 0; row < size; ++row) {
    std::reverse(shuffled.columns.begin() + sorted.row_starts[row],
                 shuffled.columns.begin() + sorted.row_starts[row + 1]);
  }
  const DeviceCsr a(shuffled);
  const Device<rocsparse_int> order(a.count);
  const Handle handle;
  size_t bytes = 0;
  ROCSPARSE(rocsparse_csrsort_buffer_size(handle, size, size, a.count, a.row_starts.get(), a.columns.get(), &bytes));
  const Device<unsigned char> storage(bytes);
  ROCSPARSE(rocsparse_create_identity_permutation(handle, a.count, order.get()));
  ROCSPARSE(rocsparse_csrsort(handle, size, size, a.count, Description(), a.row_starts.get(), a.columns.get(),
                              order.get(), storage.get()));
  check::finish();
  Indices want_order;
  for (int row = 0; row < size; ++row) {
    for (rocsparse_int i = sorted.row_starts[row + 1]; i > sorted.row_starts[row]; --i) want_order.push_back(i - 1);
  }
  check::equal("columns", a.columns.read(), sorted.columns);
  check::equal("order", order.read(), want_order);
}

/// Column-major, as rocSPARSE wants it.
Floats dense(const Matrix& matrix) {
  Floats values(static_cast<size_t>(matrix.rows) * matrix.columns);
  for (int row = 0; row < matrix.rows; ++row) {
    for (const auto& [column, value] : matrix.entries[row])
      values[static_cast<size_t>(column) * matrix.rows + row] = value;
  }
  return values;
}

/// Dense matrices have as many elements as the others have entries: `size` times some tens.
constexpr int kDenseColumns = 160;

void dense2csr(int size) {
  const Matrix matrix = random_matrix(size, kDenseColumns, 20);
  const Csr want(matrix);
  const Device<float> device_dense(dense(matrix));
  const Device<rocsparse_int> per_row(size), row_starts(size + 1);
  const Handle handle;
  const Description descr;
  rocsparse_int count = 0;
  ROCSPARSE(rocsparse_snnz(handle, rocsparse_direction_row, size, kDenseColumns, descr, device_dense.get(), size,
                           per_row.get(), &count));
  check::equal("count", count, static_cast<rocsparse_int>(want.values.size()));
  const Device<rocsparse_int> columns(want.values.size());
  const Device<float> values(want.values.size());
  ROCSPARSE(rocsparse_sdense2csr(handle, size, kDenseColumns, descr, device_dense.get(), size, per_row.get(),
                                 values.get(), row_starts.get(), columns.get()));
  check::finish();
  check_csr(want, row_starts, columns, values);
}

void csr2dense(int size) {
  const Matrix matrix = random_matrix(size, kDenseColumns, 20);
  const DeviceCsr a(matrix);
  const Device<float> out(static_cast<size_t>(size) * kDenseColumns);
  ROCSPARSE(rocsparse_scsr2dense(Handle(), size, kDenseColumns, Description(), a.values.get(), a.row_starts.get(),
                                 a.columns.get(), out.get(), size));
  check::finish();
  check::equal("csr2dense", out.read(), dense(matrix));
}

constexpr check::Routine routines[] = {
    {"axpyi", axpyi},         {"doti", doti},       {"gthr", gthr},       {"sctr", sctr},
    {"roti", roti},           {"csrmv", csrmv},     {"coomv", coomv},     {"ellmv", ellmv},
    {"bsrmv", bsrmv},         {"csrsv", csrsv},     {"csrmm", csrmm},     {"csrgeam", csrgeam},
    {"csrgemm", csrgemm},     {"csric0", csric0},   {"csrilu0", csrilu0}, {"csr2coo", csr2coo},
    {"coo2csr", coo2csr},     {"csr2csc", csr2csc}, {"csrsort", csrsort}, {"dense2csr", dense2csr},
    {"csr2dense", csr2dense},
};

}  // namespace

int main(int argc, char** argv) { return check::run_routines(routines, argc, argv, 1003); }
