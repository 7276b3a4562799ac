// Many threads that allocate, some at the same time, and of newer Javas virtual ones.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

public class Threads {
    static class Item {
        long a;
    }

    static class Virtual {
        long a, b;
    }

    static volatile Object last;

    // Together, so that none is over before another one begins.
    static void work(int n, CountDownLatch all) {
        all.countDown();
        try {
            all.await();
        } catch (InterruptedException e) {
            return;
        }
        for (int i = 0; i < n; i++)
            last = new Item();
    }

    static void workVirtually(int n) {
        for (int i = 0; i < n; i++) {
            last = new Virtual();
            if (i % 10 == 0)
                Thread.yield();
        }
    }

    static boolean startVirtual(Runnable work, List<Thread> all) throws Exception {
        try {
            all.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                        .invoke(null, work));
            return true;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    public static void main(String[] words) throws Exception {
        int threads = Integer.parseInt(words[0]), objects = Integer.parseInt(words[1]);
        boolean virtually = false;
        for (int i = 0; i < threads; i += 10) {
            List<Thread> all = new ArrayList<>();
            CountDownLatch together = new CountDownLatch(10);
            for (int j = 0; j < 10; j++) {
                Thread thread = new Thread(() -> work(objects, together), "worker " + j);
                thread.start();
                all.add(thread);
                virtually = startVirtual(() -> workVirtually(objects), all);
            }
            for (Thread thread : all)
                thread.join();
        }
        System.out.println(virtually);
    }
}
