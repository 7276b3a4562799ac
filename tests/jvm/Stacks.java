// Allocates objects in many ways, and prints for each the stack that Java has of it: its number of
// words, which no other has, and the frames, innermost first.
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

public class Stacks {
    static int number = 1000;
    static Object last;
    static StringBuilder out = new StringBuilder();

    // The stack below the allocation is that of this method.
    static void make() {
        StackTraceElement[] trace = new Throwable().getStackTrace(); long[] made = new long[++number];
        last = made;
        out.append(made.length + 2);
        for (StackTraceElement e : trace)
            out.append(' ').append(e.getClassName().replaceFirst("\\$\\$Lambda.*", "\\$\\$Lambda"))
                .append('.').append(e.getMethodName()).append('@').append(e.getFileName())
                .append(':').append(Math.max(e.getLineNumber(), 0));
        out.append('\n');
    }

    interface Shape {
        default void draw() {
            make();
        }
    }

    enum Colour implements Shape {
        RED {
            @Override
            public void draw() {
                super.draw();
            }
        },
        BLUE
    }

    record Pair<A, B>(A a, B b) implements Comparable<Pair<A, B>> {
        Pair {
            make();
        }

        public int compareTo(Pair<A, B> other) {
            make();
            return 0;
        }
    }

    static class Base {
        int field = initial();

        static {
            make();
        }

        int initial() {
            make();
            return 1;
        }
    }

    static class Derived extends Base implements AutoCloseable {
        @Override
        int initial() {
            return super.initial() + 1;
        }

        @Override
        public void close() {
            make();
        }
    }

    static void deep(int n) {
        if (n == 0)
            make();
        else
            deep(n - 1);
    }

    static class Hot {
        int a;
    }

    static Object hot(int n) {
        return n == 0 ? new Hot() : hot(n - 1);
    }

    static void reflected() {
        make();
    }

    static void thrown() throws Exception {
        try (Derived d = new Derived()) {
            throw new IllegalStateException("on purpose");
        } catch (IllegalStateException e) {
            make();
            throw new Exception(e);
        } finally {
            make();
        }
    }

    static void lambdas() throws Exception {
        Runnable plain = Stacks::make;
        plain.run();
        int captured = number;
        Supplier<Integer> supplier = () -> {
            make();
            return captured;
        };
        supplier.get();
        Runnable nested = () -> {
            Callable<Object> inner = () -> {
                make();
                return null;
            };
            try {
                inner.call();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        };
        nested.run();
        new Object() {
            void anonymous() {
                make();
            }
        }.anonymous();
    }

    static void streams() {
        IntStream.range(0, 3).forEach(i -> make());
        List<String> list = Stream.of("b", "a", "c").sorted(Comparator.comparing(s -> {
            make();
            return s;
        })).collect(Collectors.toList());
        list.forEach(s -> make());
    }

    static void handles() throws Throwable {
        MethodHandle handle = MethodHandles.lookup().findStatic(
            Stacks.class, "reflected", MethodType.methodType(void.class));
        handle.invoke();
        handle.invokeExact();
    }

    public static void main(String[] words) throws Throwable {
        make();
        deep(10);
        deep(100);
        Colour.RED.draw();
        Colour.BLUE.draw();
        new Pair<>(1, 2).compareTo(new Pair<>(3, 4));
        new Derived().close();
        Stacks.class.getDeclaredMethod("reflected").invoke(null);
        try {
            thrown();
        } catch (Exception e) {
            make();
        }
        lambdas();
        streams();
        handles();
        Thread thread = new Thread(() -> deep(3), "named here");
        thread.start();
        thread.join();
        for (int i = 0; i < 30000; i++)
            last = hot(5);
        System.out.print(out);
    }
}
