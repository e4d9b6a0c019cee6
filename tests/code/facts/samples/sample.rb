# A store of things.
require "json"
require_relative "helper"

LIMIT = 10

module Store
  VERSION = "1"

  class Error < StandardError; end

  module Reader
    def read(name)
      name
    end
  end

  class Base
    include Reader
    attr_reader :name
    attr_accessor :count, :size

    NAMES = %w[a b].freeze

    def initialize(name, size = 3, *rest, key: 1, **options, &block)
      @name = name
      @count = 0
      total = rest.sum { |item| item + size }
      rest.each do |one; local|
        puts "kept #{one} of #{name}"
      end
    rescue ArgumentError => problem
      raise Error, problem.message
    end

    def ready?
      @count > 0
    end

    def name=(value)
      @name = value
    end

    def ==(other)
      name == other.name
    end

    def [](index)
      index
    end

    def self.create(*args)
      new(*args)
    end

    class << self
      def registry
        @registry ||= {}
      end
    end

    alias_method :to_s, :name
    alias old_ready ready?

    private

    def hidden
      first, second = [1, 2]
      lambda { |x| x + first }
      ->(y) { y + second }
    end
  end
end

class Store::Extra < Store::Base
  def extra
    :symbol
  end
end

def helper(value)
  text = <<~TEXT
    some text
  TEXT
  value
end
