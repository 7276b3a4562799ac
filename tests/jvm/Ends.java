// Ends in the way that is asked for, with objects that are to be in the trace.
import java.lang.management.ManagementFactory;

public class Ends {
    static class Item {
        long a;
    }

    static Object last;

    static long overflow(long n) {
        last = new int[3];
        return overflow(n + 1) + 1;
    }

    static void fill() {
        java.util.ArrayList<byte[]> all = new java.util.ArrayList<>();
        while (true)
            all.add(new byte[1 << 20]);
    }

    static void end(String how) throws Exception {
        switch (how) {
            case "exit" -> System.exit(7);
            case "halt" -> Runtime.getRuntime().halt(9);
            case "throw" -> throw new IllegalStateException("on purpose");
            case "hook" -> Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                for (int i = 0; i < 100; i++)
                    last = new Item();
                System.out.println("hooked");
            }));
            case "memory" -> {
                try {
                    fill();
                } catch (OutOfMemoryError e) {
                    System.out.println(e.getMessage());
                }
            }
            case "overflow" -> {
                try {
                    overflow(0);
                } catch (StackOverflowError e) {
                    System.out.println("too deep");
                }
            }
            case "daemon" -> {
                Thread thread = new Thread(() -> {
                    while (true)
                        last = new Item();
                });
                thread.setDaemon(true);
                thread.start();
            }
            case "arguments" -> {
                System.out.println(ManagementFactory.getRuntimeMXBean().getInputArguments());
                System.out.println(System.getenv("JAVA_TOOL_OPTIONS"));
            }
            case "wait" -> {
                System.out.println("waits");
                Thread.sleep(100000);
            }
            default -> { }
        }
    }

    public static void main(String[] words) throws Exception {
        for (int i = 0; i < 1000; i++)
            last = new Item();
        end(words[0]);
    }
}
