using System;
using System.Collections.Generic;
using static System.Math;
using Text = System.Text;

namespace Example.Store
{
    public delegate void Changed(object sender, string name);

    public enum Kind
    {
        Plain,
        Fancy = 2,
    }

    public interface IReader<T>
    {
        bool Ready { get; }
        T Read(string name);
    }

    public struct Point
    {
        public int X, Y;

        public Point(int x, int y)
        {
            X = x;
            Y = y;
        }
    }

    public record Item(string Name, int At);

    public abstract class Store<T> : Base, IReader<T> where T : class
    {
        public const int Limit = 10;
        private readonly Dictionary<string, T> _items = new();
        public event Changed OnChanged;

        public Store(string name)
        {
            Name = name;
        }

        ~Store() { }

        public string Name { get; set; }
        public bool Ready => _items.Count > 0;

        public T this[int index]
        {
            get { return null; }
        }

        public T Read(string name)
        {
            foreach (var pair in _items)
            {
                Console.WriteLine($"read {pair.Key} of {name}");
            }
            for (int i = 0; i < 3; i++) { }
            try
            {
                int Local(int value) => value + 1;
                var found = Local(1);
            }
            catch (Exception problem)
            {
                throw new InvalidOperationException("cannot read", problem);
            }
            Func<int, int> twice = value => value * 2;
            return _items[name];
        }

        protected abstract void Write(T item);

        public static Store<T> operator +(Store<T> left, Store<T> right) => left;

        public K Map<K>(Func<T, K> how) => how(null);

        private class Nested
        {
            internal int Deep;
        }
    }

    public static class Tools
    {
        public static string Shout(this string text) => text.ToUpper() + @"raw";
    }
}
