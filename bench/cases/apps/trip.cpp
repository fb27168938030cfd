#include "cases/apps/trip.hpp"

#include "harness/content.hpp"

#include <stdexcept>

namespace bench::apps {
namespace {

// What a process has at a place, which no other process or place has.
std::uint64_t word(unsigned seat, std::int64_t place) {
    const std::uint64_t mixed =
        static_cast<std::uint64_t>(place * 2 + seat + 1) * 0x9e3779b97f4a7c15u;
    return mixed ^ mixed >> 31;
}

template <class Visit>
void for_each_double(const Matrix &matrix, Visit visit) {
    for (const Segment &s : segments_of(*matrix.type()))
        for (std::intptr_t at = s.displacement; at < s.displacement + s.bytes; at += 8)
            visit(at / 8);
}

std::size_t bytes_of(std::int64_t doubles) {
    return static_cast<std::size_t>(doubles) * sizeof(double);
}

} // namespace

Trip::Trip(Crew &crew, std::string name, const Matrix &sent, const Matrix &received)
    : crew_(crew), name_(std::move(name)), sent_(sent), received_(received),
      sent_type_(*sent.type()), received_type_(*received.type()),
      to_(crew.peers.seats() == 1 ? 0 : 1 - crew.peers.seat()), from_(to_),
      bytes_(bytes_of(sent.doubles())),
      by_hand_(crew.device.is_gpu() ? gpu_matrix() : host_matrix()),
      source_(crew.device, bytes_of(sent.span())), target_(crew.device, bytes_of(received.span())),
      expected_(crew.device, target_.bytes()), packed_out_(crew.device, bytes_),
      packed_in_(crew.device, bytes_), sent_list_(list(sent)), received_list_(list(received)) {
    if (sent.doubles() != received.doubles()) throw std::logic_error("a trip changes its length");
    std::vector<std::uint64_t> values(static_cast<std::size_t>(sent.span()));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = word(crew.peers.seat(), static_cast<std::int64_t>(i));
    crew.device.copy(source_.data(), values.data(), source_.bytes());
    std::vector<std::uint64_t> stream;
    stream.reserve(static_cast<std::size_t>(sent.doubles()));
    for_each_double(sent, [&](std::int64_t place) { stream.push_back(word(from_, place)); });
    values.assign(static_cast<std::size_t>(received.span()), UINT64_C(0x0101010101010101) * blank);
    std::size_t next = 0;
    for_each_double(received, [&](std::int64_t place) {
        values[static_cast<std::size_t>(place)] = stream[next++];
    });
    crew.device.copy(expected_.data(), values.data(), expected_.bytes());
}

std::unique_ptr<Buffer> Trip::list(const Matrix &matrix) const {
    if (matrix.pieces().empty()) return nullptr;
    auto all = std::make_unique<Buffer>(crew_.device, matrix.pieces().size() * sizeof(Piece));
    crew_.device.copy(all->data(), matrix.pieces().data(), all->bytes());
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

Contender Trip::contender(const char *name, Steps steps) {
    return {name, repeated([this, steps = std::move(steps)] { go(steps); })};
}

Contender Trip::checked(Contender contender) {
    crew_.device.set(target_.data(), blank, target_.bytes());
    crew_.peers.meet();
    contender.work(1);
    crew_.run.check_none(
        crew_.device.count_different(target_.data(), expected_.data(), target_.bytes()),
        name_ + ", " + contender.name);
    return contender;
}

Contender Trip::by_ucd() {
    return checked(contender(
        "UCD",
        {.pack = [] {},
         .send = [this] { crew_.peers.send(to_, source_.data(), 1, sent_type_.get()); },
         .receive = [this] { crew_.peers.receive(from_, target_.data(), 1, received_type_.get()); },
         .unpack = [] {}}));
}

Contender Trip::whole(const char *name, std::function<void(double *)> pack,
                      std::function<void(double *)> unpack) {
    const bool packs = sent_.kind() != MatrixKind::contiguous,
               unpacks = received_.kind() != MatrixKind::contiguous;
    double *const out = (packs ? packed_out_ : source_).as<double>(),
                  *const in = (unpacks ? packed_in_ : target_).as<double>();
    const auto nothing = [](double *) {};
    if (!packs) pack = nothing;
    if (!unpacks) unpack = nothing;
    return checked(contender(
        name, {.pack = [=] { pack(out); },
               .send = [=, this] { crew_.peers.send(to_, out, bytes_, UCD_TYPE__BYTE); },
               .receive = [=, this] { crew_.peers.receive(from_, in, bytes_, UCD_TYPE__BYTE); },
               .unpack = [=] { unpack(in); }}));
}

Contender Trip::unpipelined() {
    const auto move = [this](const UcdType &type, const Buffer &typed, double *packed) {
        return UcdMove{type.get(), typed.data(), reinterpret_cast<char *>(packed), 0, bytes_};
    };
    return whole(
        "unpipelined", [=, this](double *out) { move(sent_type_, source_, out).pack(); },
        [=, this](double *in) { move(received_type_, target_, in).unpack(); });
}

Contender Trip::by_hand() {
    const auto move = [this](const Matrix &matrix, const std::unique_ptr<Buffer> &list,
                             const Buffer &typed, double *packed) {
        MatrixMove all = matrix.move();
        if (list) all.pieces = list->as<const Piece>();
        all.typed = typed.as<double>();
        all.packed = packed;
        return all;
    };
    return whole(
        "hand",
        [=, this](double *out) {
            by_hand_.pack(move(sent_, sent_list_, source_, out));
            crew_.device.wait();
        },
        [=, this](double *in) {
            by_hand_.unpack(move(received_, received_list_, target_, in));
            crew_.device.wait();
        });
}

Contender Trip::contiguous() {
    return contender(
        "contiguous",
        {.pack = [] {},
         .send = [this] { crew_.peers.send(to_, packed_out_.data(), bytes_, UCD_TYPE__BYTE); },
         .receive =
             [this] { crew_.peers.receive(from_, packed_in_.data(), bytes_, UCD_TYPE__BYTE); },
         .unpack = [] {}});
}

} // namespace bench::apps
