// A store of things.
#include <string>
#include <vector>
#include "store.hpp"

using namespace std;
using std::vector;
using Items = std::vector<int>;
namespace fs = std::filesystem;

#define LIMIT 10

namespace outer {
namespace inner {

enum class Kind : int { Plain, Fancy = 2 };
enum Old { OLD_A, OLD_B };

struct Point {
    int x = 0;
    int y;
    int sum() const { return x + y; }
};

template <typename T, int N>
class Store : public Base<T>, private Other {
public:
    explicit Store(const std::string &name) : name_(name), count_(0) {}
    virtual ~Store() = default;
    Store(const Store &) = delete;

    T read(const std::string &name) const;
    static Store make();
    virtual void write(const T &item) = 0;
    bool operator==(const Store &other) const { return count_ == other.count_; }
    operator bool() const { return true; }

    template <typename F>
    void each(F f) {
        for (auto &item : items_) {
            f(item);
        }
        auto later = [this, &f](int value) { return value; };
        auto [first, second] = pair();
    }

    class Nested {
        int deep;
    };

private:
    std::string name_;
    int count_, size_;
    std::vector<T> items_;
};

template <typename T, int N>
T Store<T, N>::read(const std::string &name) const
{
    try {
        int found = 1;
        return items_.at(found);
    } catch (const std::exception &problem) {
        throw problem;
    }
}

} // namespace inner

class Plain {
public:
    Plain();
    ~Plain();
    int value() const;
    int operator+(int other);
};

Plain::Plain() {}
Plain::~Plain() {}

int Plain::value() const
{
    return 1;
}

int Plain::operator+(int other) { return other; }

union Bits {
    int whole;
    float part;
};

typedef struct Point3 {
    int z;
} Point3;

} // namespace outer

static int counter = 0;
constexpr int limit = 3;

int main(int argc, char **argv)
{
    const char *raw = R"(raw text)";
    return counter + limit;
}
