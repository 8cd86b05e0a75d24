// The threads that make a step of a tree together: the caller's, and helpers that it starts.
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "worker.hpp"

namespace hashlife {

enum class Outcome { made, stopped, no_memory };

class Tree;

class Crew {
public:
    Crew(Tree& tree, Squares& squares) : first(squares, *this, 0), tree_(tree), squares_(squares) {}
    ~Crew() { end(); }

    Worker first;  // the caller's

    // Starts helpers, fewer where the machine has no more threads. Only the caller's thread uses these.
    void begin(int helpers);
    void end();
    std::size_t helpers() const { return helpers_.size(); }  // or how many were to be started
    // Calls visit(worker) for each; while no helper works.
    template <class Visit>
    void each(Visit visit) {
        visit(first);
        for (const auto& helper : helpers_) visit(helper->worker);
    }
    // Calls work(), which returns an outcome, while all helpers stand still.
    template <class Work>
    void alone(Work work) {
        {
            std::unique_lock<std::mutex> lock(mutex_);
            is_called_ = true;
            came_.wait(lock, [&] { return standing_ == threads_ || outcome_ != Outcome::made; });
            if (outcome_ == Outcome::made) {
                try {
                    outcome_ = work();
                } catch (const std::bad_alloc&) {
                    outcome_ = Outcome::no_memory;
                }
            }
            is_called_ = false;
        }
        go_on_.notify_all();
    }

    // Whether somebody waits for alone(), as there is too little room.
    bool is_called() const { return is_called_.load(std::memory_order_relaxed); }
    Outcome outcome() const { return outcome_.load(std::memory_order_relaxed); }
    void reset_outcome() { outcome_ = Outcome::made; }
    void fail(Outcome outcome);

    // What a worker calls before it makes a few squares. False: all is to be left as it is.
    bool ready(Worker& worker);
    // How many workers find nothing to do.
    int idle() const { return idle_.load(std::memory_order_relaxed); }
    // Helps others with squares of at most such a level until done().
    template <class Done>
    void help_until(Worker& worker, int highest, Done done) {
        int tries = 0;
        for (; !done(); tries++) {
            ready(worker);
            Worker::Part part;
            if (!look_for_work(worker, highest, part)) {
                if (!tries) idle_++;
                wait_a_little(tries);
                continue;
            }
            if (tries) idle_--;
            tries = -1;
            worker.statistics.shared++;
            worker.work_on(*part.list, part.todo);
            part.list->away.fetch_sub(1, std::memory_order_release);
        }
        if (tries) idle_--;
    }

private:
    struct Helper {
        Helper(Squares& squares, Crew& crew, int number) : worker(squares, crew, number) {}
        Worker worker;
        std::thread thread;
    };
    void stand();
    bool look_for_work(const Worker& worker, int highest, Worker::Part& part);

    Tree& tree_;
    Squares& squares_;
    std::vector<std::unique_ptr<Helper>> helpers_;
    std::size_t threads_ = 0;  // of helpers; as many as those, or fewer
    std::mutex mutex_;
    std::condition_variable came_, go_on_;
    std::size_t standing_ = 0;
    std::atomic<bool> is_called_{false}, is_over_{false};
    std::atomic<int> idle_{0};
    std::atomic<Outcome> outcome_{Outcome::made};
};

}  // namespace hashlife
