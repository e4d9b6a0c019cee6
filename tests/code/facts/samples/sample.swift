import Foundation
import struct Other.Thing

let limit = 10
var counter: Int = 0

typealias Items = [String: Item]

protocol Reader {
    associatedtype Output
    var ready: Bool { get }
    func read(_ name: String) -> Output?
}

struct Item: Codable {
    let name: String
    var at: Int = 0

    func shout() -> String {
        return name.uppercased() + "!"
    }
}

enum Kind: String {
    case plain
    case fancy, odd
    case weighted(Int)

    var label: String {
        return rawValue
    }
}

open class Store<T>: Base, Reader {
    private var items: [String: T] = [:]
    static let shared = Store<Int>()

    init(items: [String: T]) {
        self.items = items
    }

    deinit {
        print("gone")
    }

    var ready: Bool { return !items.isEmpty }

    subscript(name: String) -> T? {
        return items[name]
    }

    func read(_ name: String) -> T? {
        for (key, value) in items {
            if key == name { return value }
        }
        guard let found = items[name] else { return nil }
        if let other = items["x"] { print("other \(other)") }
        let mapped = items.map { pair in pair.value }
        do {
            try open(name)
        } catch let problem {
            print(problem)
        }
        return found
    }

    class func create() -> Int { return 1 }

    class Nested {
        func deep() {}
    }
}

extension Store {
    func extra(count times: Int) -> Int {
        let local = times
        return local
    }
}

func helper(value: Int, rest: String...) -> Int {
    func inner(x: Int) -> Int { return x }
    return inner(x: value)
}
