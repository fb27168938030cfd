#include "baselines/cpu/hptt.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <vector>

// This class belongs to HPTT. It is declared here, so that its header need not be there.
namespace hptt {
template <class T>
class Transpose;
} // namespace hptt

namespace bench {
namespace {

constexpr int estimate = 0, patient_selection = 2; // of its SelectionMethod

template <class T>
using PlanPointer = std::shared_ptr<hptt::Transpose<T>>;
template <class T>
using CreatePlan = PlanPointer<T> (*)(const int *perm, int rank, T alpha, const T *from,
                                      const int *sizes, const int *outer_from, T beta, T *to,
                                      const int *outer_to, int selection, int threads,
                                      const int *thread_ids, bool row_major);
template <class T>
using Execute = void (*)(hptt::Transpose<T> *);

void *find(void *library, const char *symbol) {
    void *const found = dlsym(library, symbol);
    if (found == nullptr) throw std::runtime_error(std::string("HPTT has no function ") + symbol);
    return found;
}

// The library compares and orders dimensions from the fastest to the slowest.
template <class T>
std::function<void()> plan_for(void *library, const char *create, const char *execute,
                               const Permutation &p, const char *from, char *to, bool patient) {
    const int rank = static_cast<int>(p.shape.size());
    std::vector<int> sizes(p.shape.rbegin(), p.shape.rend()), perm;
    for (auto d = p.order.rbegin(); d != p.order.rend(); ++d) perm.push_back(rank - 1 - *d);
    const auto make = reinterpret_cast<CreatePlan<T>>(find(library, create));
    const auto run = reinterpret_cast<Execute<T>>(find(library, execute));
    const PlanPointer<T> plan = make(perm.data(), rank, 1, reinterpret_cast<const T *>(from),
                                     sizes.data(), nullptr, 0, reinterpret_cast<T *>(to), nullptr,
                                     patient ? patient_selection : estimate, 1, nullptr, false);
    return [plan, run] { run(plan.get()); };
}

} // namespace

Hptt::Hptt(const std::string &path) {
    void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    library_ = std::shared_ptr<void>(library, [](void *opened) { dlclose(opened); });
}

std::function<void()> Hptt::plan(const Permutation &p, const char *from, char *to,
                                 bool patient) const {
    return p.element == 4
               ? plan_for<float>(
                     library_.get(),
                     "_ZN4hptt11create_planEPKiifPKfS1_S1_fPfS1_NS_15SelectionMethodEiS1_b",
                     "_ZN4hptt9TransposeIfE7executeEv", p, from, to, patient)
               : plan_for<double>(
                     library_.get(),
                     "_ZN4hptt11create_planEPKiidPKdS1_S1_dPdS1_NS_15SelectionMethodEiS1_b",
                     "_ZN4hptt9TransposeIdE7executeEv", p, from, to, patient);
}

} // namespace bench
