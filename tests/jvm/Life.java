// Makes objects of which some are kept, and waits until the others are gone. Prints nothing but dots.
import java.util.ArrayList;
import java.util.List;

public class Life {
    static class Kept {
        int a;
    }

    static class Dropped {
        long a, b;
    }

    static class InMap {
        int a;
    }

    static List<Object> all = new ArrayList<>();

    static void make() {
        for (int i = 0; i < 1000; i++) {
            all.add(new Kept());
            Object dropped = new Dropped();
            if (i % 10 == 0)
                all.add(new InMap[i % 7]);
            all.add(dropped);
        }
    }

    public static void main(String[] words) throws Exception {
        make();
        all.removeIf(o -> o instanceof Dropped);
        for (int i = 0; i < 3; i++) {
            System.gc();
            for (int j = 0; j < 30; j++) // not at once: another thread tells of what is gone
                Thread.sleep(10);
        }
        make();
        System.out.println(all.size());
        Runtime.getRuntime().halt(0);
    }
}
