/* embed.c: a program in C, linked with libjvm.so, that runs the main function of a class in the
 * current folder: embed CLASS WORD...
 * With LIBJVM, the path of libjvm.so, it is not linked with it but says that it is early, waits for
 * a line, and loads it. */
#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>

static jobjectArray words_of(JNIEnv *env, int n, char **words) {
    jobjectArray all =
        (*env)->NewObjectArray(env, n, (*env)->FindClass(env, "java/lang/String"), NULL);
    for (int i = 0; i < n; i++)
        (*env)->SetObjectArrayElement(env, all, i, (*env)->NewStringUTF(env, words[i]));
    return all;
}

#ifdef LIBJVM
static jint create(JavaVM **vm, void **env, void *arguments) {
    puts("early");
    fflush(stdout);
    getchar();
    void *found = dlsym(dlopen(LIBJVM, RTLD_NOW | RTLD_GLOBAL), "JNI_CreateJavaVM");
    return ((jint(*)(JavaVM **, void **, void *))found)(vm, env, arguments);
}
#else
#define create JNI_CreateJavaVM
#endif

int main(int argc, char **argv) {
    JavaVMOption option = {.optionString = (char *)"-Djava.class.path=."};
    JavaVMInitArgs arguments = {.version = JNI_VERSION_10, .nOptions = 1, .options = &option};
    JavaVM *vm;
    JNIEnv *env;
    if (argc < 2 || create(&vm, (void **)&env, &arguments) != JNI_OK)
        return 1;
    jclass class = (*env)->FindClass(env, argv[1]);
    jmethodID run =
        class ? (*env)->GetStaticMethodID(env, class, "main", "([Ljava/lang/String;)V") : NULL;
    if (!run)
        return 2;
    (*env)->CallStaticVoidMethod(env, class, run, words_of(env, argc - 2, argv + 2));
    return (*vm)->DestroyJavaVM(vm) == JNI_OK ? 0 : 3;
}
