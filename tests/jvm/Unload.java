// Loads two classes again and again, each time by a loader that is dropped, so that the JVM unloads
// them and may use for one what it had for the other.
import java.io.InputStream;

public class Unload {
    public static class A implements Runnable {
        static class Item {
            int a;
        }

        static Object last;

        @Override
        public void run() {
            last = new Item();
        }
    }

    public static class B implements Runnable {
        static class Item {
            int a;
        }

        static Object last;

        @Override
        public void run() {
            last = new Item();
        }
    }

    static class Loader extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("Unload$"))
                return super.loadClass(name, resolve);
            try (InputStream in = Unload.class.getResourceAsStream(name + ".class")) {
                byte[] code = in.readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    public static void main(String[] words) throws Exception {
        for (int i = 0; i < 100; i++) {
            String name = i % 2 == 0 ? "Unload$A" : "Unload$B";
            Class<?> loaded = new Loader().loadClass(name);
            Runnable work = (Runnable) loaded.getDeclaredConstructor().newInstance();
            for (int j = 0; j < 10; j++)
                work.run();
            if (i % 4 == 3)
                System.gc();
        }
    }
}
