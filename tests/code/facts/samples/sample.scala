package org.example.store

import scala.collection.mutable
import scala.util.{Failure, Success => Good}
import java.io._

trait Reader[T] {
  val ready: Boolean
  type Output
  def read(name: String): Option[T]
  def twice(name: String): Option[T] = read(name)
}

case class Item(name: String, at: Int = 0)

sealed abstract class Kind
case object Plain extends Kind
case class Fancy(weight: Int) extends Kind

object Store {
  val Limit = 10
  var counter = 0
  type Items = Map[String, Item]

  def apply[T](items: Map[String, T]): Store[T] = new Store(items)

  object Nested {
    def deep(): Int = 1
  }
}

class Store[T](private val items: Map[String, T]) extends Base with Reader[T] {
  private var count = 0
  val ready = true
  lazy val total: Int = items.size

  def this() = this(Map.empty)

  override def read(name: String): Option[T] = {
    for ((key, value) <- items if key == name) {
      println(s"read $key of ${value.toString}")
    }
    val (first, second) = (1, 2)
    def local(x: Int): Int = x + first
    val f = (y: Int) => y + second
    try {
      items.get(name)
    } catch {
      case problem: Exception => None
    }
    name match {
      case "a" => None
      case other if other.isEmpty => None
    }
  }

  implicit class Shout(text: String) {
    def shout: String = text.toUpperCase
  }
}

object Main extends App {
  println("""raw text""")
}
