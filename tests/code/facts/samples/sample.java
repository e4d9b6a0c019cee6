package org.example.store;

import java.util.List;
import java.util.Map;
import static java.util.Objects.requireNonNull;
import java.io.*;
import static org.example.Tools.*;

/** A store of things. */
@Deprecated
public abstract class Store<T extends Comparable<T>> extends Base<T> implements Reader, Closeable {
    public static final int LIMIT = 10;
    private final Map<String, T> items;
    protected int count, size = 2;

    static {
        int prepared = 1;
    }

    public Store(Map<String, T> items) {
        super(items);
        this.items = requireNonNull(items);
    }

    @Override
    public T read(String name, int... places) throws IOException {
        for (int place : places) {
            System.out.println(place);
        }
        for (int i = 0; i < 3; i++) {
            count += i;
        }
        try (var in = open(name)) {
            return items.get(name);
        } catch (RuntimeException | Error problem) {
            throw new IOException("cannot \"read\"", problem);
        }
    }

    protected abstract void write(T item);

    public <K> K mapped(java.util.function.Function<T, K> how) {
        Runnable later = () -> System.out.println("later");
        return items.values().stream().map(item -> how.apply(item)).findFirst().orElse(null);
    }

    public interface Reader {
        String NAME = "reader";

        Object read(String name, int... places) throws IOException;

        default boolean ready() {
            return true;
        }
    }

    public enum Kind implements Runnable {
        PLAIN,
        FANCY(2) {
            @Override
            public void run() {}
        };

        private final int weight;

        Kind() {
            this(1);
        }

        Kind(int weight) {
            this.weight = weight;
        }

        public void run() {}
    }

    public record Point(int x, int y) {
        public Point {
            assert x > 0;
        }

        int sum() {
            return x + y;
        }
    }

    @interface Marked {
        String value() default "";
    }

    static class Nested {
        Object text = """
            a block of text
            """;
    }
}
