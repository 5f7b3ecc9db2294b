// l1 by projected gradient: a folder of csv files in, a folder of csv files out. No library but the standard one.
//
//   g++ -std=c++17 -O2 -o solve_l1 solve_l1.cpp
//   ./solve_l1 FOLDER ANSWER C
//
// Minimises J(mu) = max over alpha of sum(alpha) - sum(mu q(alpha)) / 2 over the simplex, whose gradient is -q/2; the SVM
// inside is solved by moving the pair of alphas that violates the optimality conditions most.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using Vector = std::vector<double>;
const double TOLERANCE = 1e-7, INFINITE = std::numeric_limits<double>::infinity();
const int STEPS = 2000;

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

Vector read(const std::filesystem::path& file) {  // all numbers of a file, row by row
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read " + file.string());
    Vector values;
    std::string line, cell;
    while (std::getline(in, line)) {
        std::stringstream cells(line);
        while (std::getline(cells, cell, ',')) values.push_back(std::stod(cell));
    }
    return values;
}

void write(const std::filesystem::path& file, const Vector& values) {
    std::ofstream out(file);
    out.precision(17);
    for (double value : values) out << value << "\n";
    if (!out) throw std::runtime_error("cannot write " + file.string());
}

struct Problem {
    std::vector<Vector> kernels;  // n x n, row by row
    Vector y;
    double C;
    size_t n() const { return y.size(); }
};

struct Point {
    Vector alpha, q;
    double bias = 0, value = 0;
};

Vector times(const Vector& kernel, const Vector& v) {
    Vector result(v.size());
    for (size_t i = 0; i < v.size(); ++i)
        result[i] = std::inner_product(v.begin(), v.end(), kernel.begin() + i * v.size(), 0.0);
    return result;
}

Vector signed_alpha(const Problem& p, const Vector& alpha) {
    Vector beta(p.n());
    std::transform(alpha.begin(), alpha.end(), p.y.begin(), beta.begin(), std::multiplies<>());
    return beta;
}

double svm(const Problem& p, const Vector& kernel, Vector& alpha) {  // changes alpha, returns the bias
    const size_t n = p.n();
    Vector f = times(kernel, signed_alpha(p, alpha));
    while (true) {
        double most = -INFINITE, least = INFINITE;
        size_t i = 0, j = 0;
        for (size_t k = 0; k < n; ++k) {
            const double slack = p.y[k] - f[k];
            const bool up = p.y[k] > 0 ? alpha[k] < p.C : alpha[k] > 0, low = p.y[k] > 0 ? alpha[k] > 0 : alpha[k] < p.C;
            if (up && slack > most) { most = slack; i = k; }
            if (low && slack < least) { least = slack; j = k; }
        }
        if (most - least <= 1e-9) return (most + least) / 2;
        const double curvature = std::max(kernel[i * n + i] + kernel[j * n + j] - 2 * kernel[i * n + j], 1e-12);
        const double room_i = p.y[i] > 0 ? p.C - alpha[i] : alpha[i], room_j = p.y[j] > 0 ? alpha[j] : p.C - alpha[j];
        const double move = std::min({(most - least) / curvature, room_i, room_j});
        alpha[i] = std::clamp(alpha[i] + p.y[i] * move, 0.0, p.C);
        alpha[j] = std::clamp(alpha[j] - p.y[j] * move, 0.0, p.C);
        for (size_t k = 0; k < n; ++k) f[k] += move * (kernel[k * n + i] - kernel[k * n + j]);
    }
}

Point value_at(const Problem& p, const Vector& weights, const Vector& start) {
    Vector kernel(p.n() * p.n(), 0.0);
    for (size_t m = 0; m < weights.size(); ++m)
        for (size_t k = 0; k < kernel.size(); ++k) kernel[k] += weights[m] * p.kernels[m][k];
    Point point;
    point.alpha = start;
    point.bias = svm(p, kernel, point.alpha);
    const Vector beta = signed_alpha(p, point.alpha);
    for (const Vector& one : p.kernels) point.q.push_back(dot(beta, times(one, beta)));
    point.value = std::accumulate(point.alpha.begin(), point.alpha.end(), 0.0) - dot(weights, point.q) / 2;
    return point;
}

Vector onto_simplex(Vector v) {
    Vector down = v;
    std::sort(down.rbegin(), down.rend());
    double sum = 0, level = 0;
    for (size_t k = 0; k < down.size(); ++k) {
        sum += down[k];
        if (down[k] > (sum - 1) / (k + 1)) level = (sum - 1) / (k + 1);
    }
    for (double& value : v) value = std::max(value - level, 0.0);
    return v;
}

int main(int count, char** words) try {
    if (count != 4) throw std::runtime_error("usage: solve_l1 FOLDER ANSWER C");
    const std::filesystem::path folder = words[1], answer = words[2];
    Problem p{{}, read(folder / "y.csv"), std::stod(words[3])};
    for (int m = 1; std::filesystem::exists(folder / ("K" + std::to_string(m) + ".csv")); ++m)
        p.kernels.push_back(read(folder / ("K" + std::to_string(m) + ".csv")));

    Vector weights(p.kernels.size(), 1.0 / p.kernels.size());
    Point at = value_at(p, weights, Vector(p.n(), 0.0));
    double step = 1 / std::max(std::sqrt(dot(at.q, at.q)), 1e-12);
    for (int k = 0; k < STEPS; ++k) {
        if ((*std::max_element(at.q.begin(), at.q.end()) - dot(weights, at.q)) / 2 <= TOLERANCE * std::abs(at.value)) break;
        while (true) {
            Vector trial = weights, move = weights;
            for (size_t m = 0; m < weights.size(); ++m) trial[m] += step * at.q[m] / 2;
            trial = onto_simplex(trial);
            for (size_t m = 0; m < weights.size(); ++m) move[m] = trial[m] - weights[m];
            const Point found = value_at(p, trial, at.alpha);
            const double model = at.value - dot(at.q, move) / 2 + dot(move, move) / (2 * step);
            if (found.value <= model + 1e-12 * std::abs(at.value)) {
                weights = trial;
                at = found;
                break;
            }
            step /= 2;
        }
        step *= 1.5;
    }
    std::filesystem::create_directory(answer);
    write(answer / "weights.csv", weights);
    write(answer / "alpha.csv", at.alpha);
    write(answer / "bias.csv", {at.bias});
    write(answer / "objective.csv", {at.value});
} catch (const std::exception& fault) {
    std::cerr << "solve_l1: " << fault.what() << "\n";
    return 2;
}
