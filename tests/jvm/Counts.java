// Allocates in work() alone, in code that is interpreted at first and compiled later, and prints what
// the JVM says of it: what the thread has allocated, in bytes.
import java.lang.management.ManagementFactory;

public class Counts {
    static class Point {
        double x, y;

        Point(double x, double y) {
            this.x = x;
            this.y = y;
        }

        Point plus(Point other) {
            return new Point(x + other.x, y + other.y);
        }
    }

    static Object[] kept = new Object[1000];

    static int work(int rounds) {
        Point sum = new Point(0, 0);
        for (int i = 0; i < rounds; i++) {
            sum = sum.plus(new Point(i, -i));  // which compiled code need not allocate
            kept[i % kept.length] = new byte[i % 5000];
            kept[(i + 7) % kept.length] = new Object[] {sum, i};
            if (i % 1000 == 0)
                kept[0] = new long[100 * i % 300000];
            kept[i * 31 % kept.length] = "number " + i;
            kept[i * 37 % kept.length] = new int[i % 3][2];
        }
        return (int) sum.x;
    }

    public static void main(String[] words) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        int rounds = Integer.parseInt(words[0]);
        threads.getCurrentThreadAllocatedBytes();
        long before = threads.getCurrentThreadAllocatedBytes();
        int sum = work(rounds);
        long after = threads.getCurrentThreadAllocatedBytes();
        System.err.println(after - before);  // not the same in each run
        System.out.println(sum);
    }
}
