// Runs until its input ends; for each line that it gets it does a piece of work, and says so.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

public class Served {
    static class Item {
        long a;
    }

    static class Early extends Item {
    }

    static List<Item> kept = new ArrayList<>();
    static volatile Object last;

    static void make(int n) {
        for (int i = 0; i < n; i++) {
            Item item = new Item();
            if (i % 2 == 0)
                kept.add(item);
            last = item;
        }
        last = null;
    }

    static void fill(long bytes) {
        for (long done = 0; done < bytes; done += 1000)
            last = new byte[1000 - 16];
        last = null;
    }

    static void inThread(Runnable work) throws Exception {
        Thread thread = new Thread(work, "worker");
        thread.start();
        thread.join();
    }

    static void serve(String[] words) throws Exception {
        int n = Integer.parseInt(words[1]);
        switch (words[0]) {
        case "make" -> inThread(() -> make(n));
        case "fill" -> fill(n * 1000000L);
        case "drop" -> {
            kept.clear();
            System.gc();
        }
        }
    }

    public static void main(String[] all) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (int i = 0; i < 100; i++)
            kept.add(new Early());
        fill(1000000);
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null;) {
            serve(line.split(" "));
            System.out.println("done");
        }
    }
}
