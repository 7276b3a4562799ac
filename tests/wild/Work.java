// Threads, buffers outside of the heap, and much garbage.
import java.nio.ByteBuffer;
import java.util.*;

class Work {
    public static void main(String[] words) throws Exception {
        List<Thread> threads = new ArrayList<>();
        long[] sums = new long[4];
        for (int t = 0; t < sums.length; t++) {
            final int own = t;
            threads.add(new Thread(() -> {
                Map<Integer, String> m = new HashMap<>();
                for (int i = 0; i < 20000; i++)
                    m.put(i % 500, "x" + i);
                ByteBuffer b = ByteBuffer.allocateDirect(100000);
                sums[own] = m.size() + b.capacity();
            }));
        }
        for (Thread t : threads)
            t.start();
        for (Thread t : threads)
            t.join();
        System.out.println(Arrays.toString(sums));
    }
}
