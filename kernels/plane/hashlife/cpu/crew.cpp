#include "crew.hpp"

#include <system_error>

#include "tree.hpp"

namespace hashlife {

void Crew::begin(int helpers) {
    squares_.share(true);
    is_over_ = false;
    try {
        for (int i = 1; i <= helpers; i++) helpers_.push_back(std::make_unique<Helper>(squares_, *this, i));
        // All of them are there before the first looks for work.
        for (const auto& helper : helpers_) {
            Worker& worker = helper->worker;
            helper->thread = std::thread([this, &worker] {
                help_until(worker, HIGHEST, [this] { return is_over_.load(std::memory_order_relaxed); });
            });
            threads_++;
        }
    } catch (const std::bad_alloc&) {  // with those that there are
    } catch (const std::system_error&) {
    }
}

void Crew::end() {
    is_over_ = true;
    for (const auto& helper : helpers_) {
        if (helper->thread.joinable()) helper->thread.join();
        Worker& worker = helper->worker;
        squares_.nodes.give_back(worker.new_nodes);
        squares_.leaves.give_back(worker.new_leaves);
        first.statistics.add(worker.statistics);
    }
    helpers_.clear();
    threads_ = 0;
    squares_.share(false);
}

void Crew::fail(Outcome outcome) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (outcome_ == Outcome::made) outcome_ = outcome;
    }
    came_.notify_one();
    go_on_.notify_all();
}

bool Crew::ready(Worker& worker) {
    if (&worker == &first) return tree_.ready();
    while (outcome() == Outcome::made && (is_called() || tree_.lacks_room())) stand();
    return outcome() == Outcome::made;
}

void Crew::stand() {
    std::unique_lock<std::mutex> lock(mutex_);
    // The room that was lacking may just have been made.
    if (outcome_ != Outcome::made || !(is_called_ || tree_.lacks_room())) return;
    is_called_ = true;
    standing_++;
    came_.notify_one();
    go_on_.wait(lock, [&] { return !is_called_ || outcome_ != Outcome::made; });
    standing_--;
}

bool Crew::look_for_work(const Worker& worker, int highest, Worker::Part& part) {
    if (outcome() != Outcome::made) return false;
    const int count = int(helpers_.size()) + 1;
    for (int i = 1; i < count; i++) {
        const int number = (worker.number + i) % count;
        if ((number ? helpers_[std::size_t(number - 1)]->worker : first).give(highest, part)) return true;
    }
    return false;
}

}  // namespace hashlife
