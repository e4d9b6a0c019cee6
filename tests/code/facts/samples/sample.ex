defmodule Example.Store do
  @moduledoc "A store of things."
  use GenServer
  alias Example.{Item, Other}
  alias Example.Tools, as: T
  import Enum, only: [map: 2]
  require Logger

  @limit 10
  @type t :: %__MODULE__{name: String.t()}
  @callback read(name :: String.t()) :: term

  defstruct name: nil, items: %{}

  defmodule Nested do
    def deep(x), do: x
  end

  def start_link(opts \\ []) do
    GenServer.start_link(__MODULE__, opts)
  end

  @doc "Reads."
  def read(%{items: items} = store, name) when is_binary(name) do
    case Map.fetch(items, name) do
      {:ok, item} -> item
      :error -> raise "no #{name} in #{inspect(store)}"
    end
  end

  def read(_store, _other), do: nil

  defp hidden([first | rest]) do
    found = Enum.map(rest, fn x -> x + first end)
    found
  end

  defmacro keep(block) do
    quote do
      unquote(block)
    end
  end

  defguard is_kept(x) when is_map(x)
  defdelegate size(items), to: Map
end

defprotocol Example.Shout do
  def shout(value)
end

defimpl Example.Shout, for: BitString do
  def shout(value), do: String.upcase(value)
end
