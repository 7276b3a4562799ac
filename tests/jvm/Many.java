// Allocates arrays of one size in a method each, so that what samples estimate can be compared with
// what there was, which it prints: method and words.
public class Many {
    static volatile Object last;

    static long small() {
        for (int i = 0; i < 300000; i++)
            last = new int[1];
        return 300000L * 3;
    }

    static long middle() {
        for (int i = 0; i < 100000; i++)
            last = new long[98];
        return 100000L * 100;
    }

    static long large() {
        for (int i = 0; i < 5000; i++)
            last = new long[1998];
        return 5000L * 2000;
    }

    static long huge() {
        for (int i = 0; i < 100; i++)
            last = new long[99998];
        return 100L * 100000;
    }

    static long mixed() {
        for (int i = 0; i < 10000; i++) {
            last = new long[1998];
            last = new byte[8];
            last = new byte[8];
            last = new long[198];
        }
        return 10000L * (2000 + 3 + 3 + 200);
    }

    static long threads() throws Exception {
        for (int i = 0; i < 400; i++) {
            Thread thread = new Thread(() -> inThread());
            thread.start();
            thread.join();
        }
        return 400L * 250 * 100;
    }

    static void inThread() {
        for (int i = 0; i < 250; i++)
            last = new long[98];
    }

    public static void main(String[] words) throws Exception {
        System.out.println("small " + small());
        System.out.println("middle " + middle());
        System.out.println("large " + large());
        System.out.println("huge " + huge());
        System.out.println("mixed " + mixed());
        System.out.println("inThread " + threads());
    }
}
