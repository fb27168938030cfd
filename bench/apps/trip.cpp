#include "apps/trip.hpp"

#include <fmt/core.h>

#include <stdexcept>

namespace bench::apps {
namespace {

constexpr int blank = 0x5a;

// What a process has at a place, which no other process or place has.
std::uint64_t word(unsigned seat, std::int64_t place) {
    const std::uint64_t mixed =
        static_cast<std::uint64_t>(place * 2 + seat + 1) * 0x9e3779b97f4a7c15u;
    return mixed ^ mixed >> 31;
}

std::size_t bytes_of(std::int64_t doubles) {
    return static_cast<std::size_t>(doubles) * sizeof(double);
}

} // namespace

Trip::Trip(Crew &crew, std::string name, const Matrix &sent, const Matrix &received)
    : crew_(crew), name_(std::move(name)), sent_(sent), received_(received),
      sent_type_(sent.type()), received_type_(received.type()),
      to_(crew.peers.seats() == 1 ? 0 : 1 - crew.peers.seat()), from_(to_),
      bytes_(bytes_of(sent.doubles())),
      kernels_(crew.place.on_device() ? cuda_matrix() : host_matrix()),
      source_(crew.place, bytes_of(sent.span())), target_(crew.place, bytes_of(received.span())),
      expected_(crew.place, target_.bytes()), packed_out_(crew.place, bytes_),
      packed_in_(crew.place, bytes_), sent_list_(list(sent)), received_list_(list(received)) {
    if (sent.doubles() != received.doubles()) throw std::logic_error("a trip changes its length");
    std::vector<std::uint64_t> values(static_cast<std::size_t>(sent.span()));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = word(crew.peers.seat(), static_cast<std::int64_t>(i));
    crew.place.copy(source_.data(), values.data(), source_.bytes());
    std::vector<std::uint64_t> stream;
    stream.reserve(static_cast<std::size_t>(sent.doubles()));
    sent.for_each([&](std::int64_t place) { stream.push_back(word(from_, place)); });
    values.assign(static_cast<std::size_t>(received.span()), UINT64_C(0x0101010101010101) * blank);
    std::size_t next = 0;
    received.for_each(
        [&](std::int64_t place) { values[static_cast<std::size_t>(place)] = stream[next++]; });
    crew.place.copy(expected_.data(), values.data(), expected_.bytes());
}

std::unique_ptr<Memory> Trip::list(const Matrix &matrix) const {
    if (matrix.pieces().empty()) return nullptr;
    auto all = std::make_unique<Memory>(crew_.place, matrix.pieces().size() * sizeof(Piece));
    crew_.place.copy(all->data(), matrix.pieces().data(), all->bytes());
    return all;
}

void Trip::go(const Steps &steps) {
    Peers &peers = crew_.peers;
    const auto send = [&] {
        steps.pack();
        steps.send();
    };
    if (peers.seats() == 1) {
        steps.receive();
        send();
        peers.finish();
        return steps.unpack();
    }
    for (const bool sends : {peers.seat() == 0, peers.seat() != 0}) {
        sends ? send() : steps.receive();
        peers.finish();
        if (!sends) steps.unpack();
    }
}

Way Trip::way(const char *name, Steps steps) {
    return {name, [this, steps = std::move(steps)] { go(steps); }};
}

Way Trip::checked(Way way) {
    crew_.say(fmt::format("{}: checking {}", name_, way.name));
    crew_.place.set(target_.data(), blank, target_.bytes());
    crew_.peers.meet();
    way.once();
    crew_.agree_on(crew_.place.count_different(target_.data(), expected_.data(), target_.bytes()),
                   name_ + ", " + way.name);
    return way;
}

Way Trip::by_ucd() {
    return checked(way(
        "UCD",
        {.pack = [] {},
         .send = [this] { crew_.peers.send(to_, source_.data(), 1, sent_type_.get()); },
         .receive = [this] { crew_.peers.receive(from_, target_.data(), 1, received_type_.get()); },
         .unpack = [] {}}));
}

Way Trip::whole(const char *name, std::function<void(double *)> pack,
                std::function<void(double *)> unpack) {
    const bool packs = sent_.kind() != MatrixKind::contiguous,
               unpacks = received_.kind() != MatrixKind::contiguous;
    const auto doubles = [](const Memory &memory) {
        return reinterpret_cast<double *>(memory.data());
    };
    double *out = doubles(packs ? packed_out_ : source_),
           *in = doubles(unpacks ? packed_in_ : target_);
    const auto nothing = [](double *) {};
    if (!packs) pack = nothing;
    if (!unpacks) unpack = nothing;
    return checked(
        way(name, {.pack = [=] { pack(out); },
                   .send = [=, this] { crew_.peers.send(to_, out, bytes_, UCD_TYPE__BYTE); },
                   .receive = [=, this] { crew_.peers.receive(from_, in, bytes_, UCD_TYPE__BYTE); },
                   .unpack = [=] { unpack(in); }}));
}

Way Trip::unpipelined() {
    return whole(
        "unpipelined",
        [this](double *out) {
            std::uintptr_t moved;
            check_ucd(ucd_pack(source_.data(), 1, sent_type_.get(), 0, out, bytes_, &moved,
                               UCD_INFO__NULL, UCD_OP__REPLACE));
        },
        [this](double *in) {
            std::uintptr_t moved;
            check_ucd(ucd_unpack(in, bytes_, target_.data(), 1, received_type_.get(), 0, &moved,
                                 UCD_INFO__NULL, UCD_OP__REPLACE));
        });
}

Way Trip::by_hand() {
    const auto pieces = [](const std::unique_ptr<Memory> &list) {
        return list ? reinterpret_cast<const Piece *>(list->data()) : nullptr;
    };
    return whole(
        "hand",
        [=, this](double *out) {
            kernels_.pack(
                {sent_, reinterpret_cast<double *>(source_.data()), out, pieces(sent_list_)});
            crew_.place.wait();
        },
        [=, this](double *in) {
            kernels_.unpack({received_, reinterpret_cast<double *>(target_.data()), in,
                             pieces(received_list_)});
            crew_.place.wait();
        });
}

Way Trip::contiguous() {
    return way(
        "contiguous",
        {.pack = [] {},
         .send = [this] { crew_.peers.send(to_, packed_out_.data(), bytes_, UCD_TYPE__BYTE); },
         .receive =
             [this] { crew_.peers.receive(from_, packed_in_.data(), bytes_, UCD_TYPE__BYTE); },
         .unpack = [] {}});
}

} // namespace bench::apps
