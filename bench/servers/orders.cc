/* orders: a small server in C++ that allocates as such servers do, for servers.py.
 *
 * It takes orders as JSON over HTTP, in four threads, keeps the latest thousands, and answers with
 * what it made of each: a tree of strings, maps and vectors a request, most of which dies with it.
 * HTTP and JSON are libraries' of Debian (libcpp-httplib-dev, nlohmann-json3-dev). Usage: orders
 * PORT */
#include <map>
#include <mutex>
#include <string>

#include <httplib.h>
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace {

constexpr size_t KEPT = 20000; // orders; the oldest is dropped for a new one
constexpr size_t THREADS = 4;

class Store {
    std::mutex lock;
    std::map<long, json> orders;
    long next = 0;

  public:
    long add(json order) {
        std::lock_guard<std::mutex> held(lock);
        orders.emplace(next, std::move(order));
        if (orders.size() > KEPT) {
            orders.erase(orders.begin());
        }
        return next++;
    }
};

json priced(const json &order) {
    std::map<std::string, double> by_kind;
    json lines = json::array();
    for (const json &line : order.at("lines")) {
        const double price = line.at("price").get<double>() * line.at("count").get<int>();
        by_kind[line.at("kind").get<std::string>()] += price;
        json answer = line;
        answer["total"] = price;
        lines.push_back(std::move(answer));
    }
    return {{"lines", std::move(lines)}, {"by_kind", by_kind}, {"customer", order.at("customer")}};
}

void take(Store &store, const httplib::Request &request, httplib::Response &response) {
    json order = json::parse(request.body);
    json answer = priced(order);
    answer["id"] = store.add(std::move(order));
    response.set_content(answer.dump(), "application/json");
}

} // namespace

int main(int count, char **arguments) {
    Store store;
    httplib::Server server;
    server.new_task_queue = [] { return new httplib::ThreadPool(THREADS); };
    server.set_keep_alive_max_count(1000000000);
    server.set_tcp_nodelay(true);
    server.Post("/orders", [&](const httplib::Request &request, httplib::Response &response) {
        take(store, request, response);
    });
    return count == 2 && server.listen("127.0.0.1", std::stoi(arguments[1])) ? 0 : 1;
}
