package org.example.store

import java.io.File
import java.util.concurrent.ConcurrentHashMap as Concurrent
import kotlin.math.*

const val LIMIT = 10
val names = listOf("a", "b")
var counter: Int = 0

typealias Items = Map<String, Item>

data class Item(val name: String, var at: Int = 0, hint: String)

interface Reader<T> {
    val ready: Boolean
    fun read(name: String): T?
    fun twice(name: String): T? = read(name)
}

sealed class Kind {
    object Plain : Kind()
    class Fancy(val weight: Int) : Kind()
}

enum class Level(val order: Int) {
    LOW(1),
    HIGH(2);

    fun above(other: Level) = order > other.order
}

abstract class Store<T>(private val items: MutableMap<String, T>) : Reader<T> {
    private var count = 0
    override val ready: Boolean
        get() = count > 0

    init {
        val prepared = 1
        count = prepared
    }

    constructor() : this(mutableMapOf())

    override fun read(name: String): T? {
        for ((key, value) in items) {
            if (key == name) return value
        }
        val (first, second) = pair()
        val found = items.filter { entry -> entry.key == name }
        try {
            count += 1
        } catch (problem: Exception) {
            println("cannot read $name: ${problem.message}")
        }
        return when (val it = found.size) {
            0 -> null
            else -> items[name]
        }
    }

    abstract fun write(item: T)

    companion object {
        const val START = 1
        fun create() = 1
    }

    inner class Cursor {
        fun next(): T? = null
    }
}

fun String.shout(times: Int = 1): String {
    fun local(x: Int) = x
    return this.uppercase().repeat(local(times))
}

object Registry {
    fun register(item: Item) {}
}

fun main() {
    val action = fun(x: Int): Int { return x }
    println("""raw text""")
}
